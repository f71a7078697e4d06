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
// service. PIN and one-time password exist only here, as prepaid.Secret. They leave the device in an envelope.

// relay is all that the device sees of the partner's backend. In an app, its methods are three HTTPS requests in the
// cardholder's session. The last two have a value of the type sealed as JSON body.
type relay interface {
	Initiate(ctx context.Context) (operationID string, err error)
	Validate(ctx context.Context, message sealed) error
	Execute(ctx context.Context, message sealed) error
}

// sealed is the device's message. Nobody can read the envelope without the operator's private key.
type sealed struct {
	OperationID string               `json:"operation_id"`
	Envelope    *prepaid.PINEnvelope `json:"envelope"`
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

	operation string // the ID of the running change
}

var (
	errWeak    = errors.New("the new PIN is too weak")
	errStopped = errors.New("stopped")
)

// stepError is a failed call.
type stepError struct {
	step string // initiate, validate or execute
	err  error
}

func (e *stepError) Error() string { return e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// changePIN makes the whole change once. No step is repeated: after a failure the cardholder starts again, with a new
// one-time password.
func (d *device) changePIN(ctx context.Context) error {
	pin, err := d.keypad.newPIN(ctx) // asked first, so that a weak PIN costs no one-time password
	if err != nil {
		return err
	}
	if rule := brokenRule(pin.Reveal()); rule != "" {
		return fmt.Errorf("%w: it must %s", errWeak, rule)
	}
	if d.operation, err = d.relay.Initiate(ctx); err != nil {
		return &stepError{"initiate", err}
	}
	d.say("initiated: operation %s", d.operation)
	otp, err := d.keypad.oneTimePassword(ctx)
	if err != nil {
		return err
	}
	secret := prepaid.PINSecret{OTP: otp, PIN: pin}
	if err := d.send(ctx, "validate", d.relay.Validate, secret); err != nil {
		return err
	}
	d.say("validated: the one-time password is correct")
	if ctx.Err() != nil {
		return errStopped
	}
	// From here on, nothing interrupts the change: after an interruption, nobody would know which PIN is valid.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return d.send(ctx, "execute", d.relay.Execute, secret)
}

// send seals the secret and sends one message. Each message has its own envelope, with a key and a vector that are used once.
func (d *device) send(ctx context.Context, step string, call func(context.Context, sealed) error, secret prepaid.PINSecret) error {
	envelope, err := d.key.Seal(secret)
	if err != nil {
		return err
	}
	err = call(ctx, sealed{OperationID: d.operation, Envelope: envelope})
	if prepaid.OutcomeOf(err) == prepaid.OutcomeApplied { // even if the response was unusable
		return nil
	}
	return &stepError{step, err}
}

// brokenRule returns the rule that a PIN breaks, or "". These are the rules of this program: the service has no
// documented rules, and the operator defines which PINs a card accepts.
func brokenRule(pin string) string {
	const sequences = "01234567890 09876543210"
	switch {
	case len(pin) < 4 || len(pin) > 12 || strings.Trim(pin, "0123456789") != "":
		return "be 4 to 12 digits"
	case strings.Count(pin, pin[:1]) == len(pin):
		return "not be one repeated digit"
	case strings.Contains(sequences, pin):
		return "not be a sequence of digits"
	}
	return ""
}
