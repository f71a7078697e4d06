// Package pinned names the packages that the test of the corpora reads from the module proxy.
package pinned

import (
	_ "github.com/mercadopago/sdk-go/pkg/payment"
	_ "github.com/midtrans/midtrans-go/coreapi"
)
