package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// This file is the cardholder's side: the app on the phone. It has the operator's certificate and no client of the
// service. PIN and one-time password exist here only, as prepaid.Secret, and leave in an envelope.

// relay is all that the device sees of the partner's backend. In an app these are three requests of the cardholder's
// session over HTTPS, with sealed as their JSON body.
type relay interface {
	// Initiate has the one-time password sent and returns the id of the operation.
	Initiate(ctx context.Context) (operationID string, err error)
	// Validate has the one-time password checked.
	Validate(ctx context.Context, message sealed) error
	// Execute has the PIN changed.
	Execute(ctx context.Context, message sealed) error
}

// sealed is what the device sends: nothing in it can be read without the operator's private key.
type sealed struct {
	OperationID string              `json:"operation_id"`
	Envelope    prepaid.PINEnvelope `json:"envelope"`
}

// keypad asks the cardholder.
type keypad interface {
	newPIN(ctx context.Context) (prepaid.Secret, error)
	oneTimePassword(ctx context.Context) (prepaid.Secret, error)
}

// device changes a PIN.
type device struct {
	key    *prepaid.PINKey
	keypad keypad
	relay  relay
	say    func(format string, args ...any)
}

// executeLimit ends the last call, which Ctrl+C does not.
const executeLimit = time.Minute

var (
	errWeak    = errors.New("the new PIN is too weak")
	errSealing = errors.New("the PIN could not be sealed")
	errStopped = errors.New("stopped")
)

// stepError is a call that failed.
type stepError struct {
	step string // initiate, validate or execute
	err  error
}

func (e *stepError) Error() string { return e.err.Error() }

func (e *stepError) Unwrap() error { return e.err }

// changePIN goes once through the whole change. No step is made twice: after a failure the cardholder starts anew, with
// a new one-time password.
func (d *device) changePIN(ctx context.Context) error {
	pin, err := d.keypad.newPIN(ctx) // first, so that a weak one costs no one-time password
	if err != nil {
		return err
	}
	if rule := weakness(pin.Reveal()); rule != "" {
		return fmt.Errorf("%w: it must %s", errWeak, rule)
	}
	operation, err := d.relay.Initiate(ctx)
	if err != nil {
		return &stepError{"initiate", err}
	}
	d.say("initiated: operation %s", operation)
	otp, err := d.keypad.oneTimePassword(ctx)
	if err != nil {
		return err
	}
	secret := prepaid.PINSecret{OTP: otp, PIN: pin}
	if err := d.send(ctx, "validate", d.relay.Validate, operation, secret); err != nil {
		return err
	}
	d.say("validated: the one-time password is right")
	if ctx.Err() != nil {
		return errStopped
	}
	// From here on the change runs to its end: to cut it off is not to know which PIN counts.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), executeLimit)
	defer cancel()
	return d.send(ctx, "execute", d.relay.Execute, operation, secret)
}

// send seals and sends. Each message has an envelope of its own, made of a key and a vector that are used once.
func (d *device) send(ctx context.Context, step string, call func(context.Context, sealed) error, operation string, secret prepaid.PINSecret) error {
	envelope, err := d.key.Seal(secret)
	if err != nil {
		return fmt.Errorf("%w: %w", errSealing, err)
	}
	err = call(ctx, sealed{OperationID: operation, Envelope: *envelope})
	if prepaid.OutcomeOf(err) == prepaid.OutcomeApplied { // also when the answer came and could not be used
		return nil
	}
	return &stepError{step, err}
}

// weakness names the rule that a PIN breaks, or returns "". The rules are this program's: the service states none, and
// what a card takes is for the operator to say.
func weakness(pin string) string {
	const up = "01234567890"
	const down = "09876543210"
	switch {
	case len(pin) < 4 || len(pin) > 12 || strings.Trim(pin, "0123456789") != "":
		return "be 4 to 12 digits"
	case strings.Count(pin, pin[:1]) == len(pin):
		return "not be one digit over and over"
	case strings.Contains(up, pin) || strings.Contains(down, pin):
		return "not be a run of digits"
	}
	return ""
}
