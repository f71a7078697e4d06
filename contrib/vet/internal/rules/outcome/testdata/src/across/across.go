// Package across imports no package of the SDK.
package across

import (
	"context"

	"payments"
)

type shop struct{ *payments.Service }

func buy(ctx context.Context, s shop, order payments.Order) {
	_ = s.Pay(ctx, order)                     // want `the error of Service.Pay is dropped: the money may have moved`
	if err := s.Pay(ctx, order); err != nil { // want `only compared`
		return
	}
}
