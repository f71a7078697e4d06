package state

import (
	"fmt"
	"io"
	"time"
)

// PINChange is a PIN change, with the cardholder's one-time password. If you print it, the text has only operation and expiry.
type PINChange struct {
	// OperationID is a UUID, returned by POST /pin/initiate.
	OperationID string `json:"operation_id"`
	// AccountID is the EAID.
	AccountID AccountID `json:"account_id"`
	// DeviceID is the ID that later requests must have.
	DeviceID string `json:"device_id"`
	// OTP is the one-time password, six digits.
	OTP string `json:"otp"`
	// ExpiresAt is in UTC, on the server's clock.
	ExpiresAt time.Time `json:"expires"`
	// Finished reports that the PIN was set.
	Finished bool `json:"finished"`
}

// Format writes operation and expiry with every verb.
func (c PINChange) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "PIN change "+c.OperationID+" until "+c.ExpiresAt.UTC().Format(time.RFC3339))
}
