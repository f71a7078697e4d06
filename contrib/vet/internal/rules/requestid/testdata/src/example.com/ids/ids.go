// Package ids makes IDs. It knows nothing of payments.
package ids

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

func New() string { return "tx-" + uuid.NewString() }

func Stamp(prefix string) (string, error) {
	if prefix == "" {
		return "", fmt.Errorf("no prefix")
	}
	return fmt.Sprint(prefix, time.Now().UnixMilli()), nil
}

func Of(order string) string { return "tx-" + order }
