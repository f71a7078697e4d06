package webhook

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels, for errors.Is.
var (
	// ErrSignatureMissing: the message has no signature where one is expected.
	ErrSignatureMissing = errors.New("webhook: signature missing")
	// ErrSignatureInvalid: the signature matches none of the keys. The error does not name the key that was tried.
	ErrSignatureInvalid = errors.New("webhook: signature invalid")
	// ErrSignatureExpired: the signature matches, but its time is outside the tolerance. It is also an
	// ErrSignatureInvalid.
	ErrSignatureExpired = fmt.Errorf("%w: outside the tolerance", ErrSignatureInvalid)
	// ErrInFlight: the same message is being handled elsewhere, or by a function that overran its time and still runs.
	ErrInFlight = errors.New("webhook: message is being handled")
	// ErrShutdown: the Handler accepts no more messages.
	ErrShutdown = errors.New("webhook: handler shut down")
	// ErrClaimLost: the lease expired, or the claim has already ended or was never won. Nothing was changed.
	ErrClaimLost = errors.New("webhook: claim lost")
	// ErrClaimsFull: a bounded ClaimStore is full of live leases.
	ErrClaimsFull = errors.New("webhook: claim store full")
	// ErrMessageID: a stored message has no ID, so it can be neither claimed nor dismissed.
	ErrMessageID = errors.New("webhook: message without id")
)

// Causes that callers need not distinguish.
var (
	errMethod     = errors.New("webhook: method is not POST")
	errBodyLength = errors.New("webhook: body above the limit")
	errBodyRead   = errors.New("webhook: body not received")
	errClaimState = errors.New("no such claim state")
	errDismiss    = errors.New("webhook: messages cannot be dismissed")
)

// ClaimError means that the ClaimStore failed.
type ClaimError struct {
	// Step is the call that failed: "claim", "done" or "release".
	Step string
	// Err is the store's error.
	Err error
}

// Error returns the step and the store's error.
func (e *ClaimError) Error() string {
	text := "webhook: claim store: " + e.Step
	if e.Err != nil {
		text += ": " + strings.TrimPrefix(e.Err.Error(), "webhook: ")
	}
	return text
}

// Unwrap returns Err.
func (e *ClaimError) Unwrap() error { return e.Err }

// PanicError means that a function panicked or ended its goroutine. The panic value is dropped: it may contain content of
// the message.
type PanicError struct {
	// Stack is the stack of the panic, as printed by runtime/debug; empty if the goroutine was ended.
	Stack []byte
}

// Error does not print the stack.
func (e *PanicError) Error() string { return "webhook: function panicked" }
