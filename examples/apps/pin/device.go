package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// This file is the cardholder's side: the app on the phone. It has the operator's certificate and no client of the service. PIN and
// one-time password exist only here, as prepaid.Secret. They leave the device in an envelope.

// relay is all that the device sees of the partner's backend. In an app, its methods are three HTTPS requests in the cardholder's session.
type relay interface {
	Initiate(ctx context.Context) (operationID string, err error)
	Validate(ctx context.Context, operationID string, envelope *prepaid.PINEnvelope) error
	Execute(ctx context.Context, operationID string, envelope *prepaid.PINEnvelope) error
}

// device changes a PIN.
type device struct {
	key   *prepaid.PINKey
	relay relay
	ask   func(prompt, operationID string) (prepaid.Secret, error) // asks the cardholder
}

// stepError is a failed call.
type stepError struct {
	step string // initiate, validate or execute
	err  error
}

func (e *stepError) Error() string { return e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// changePIN makes the whole change once. No step is repeated: after a failure the cardholder starts again, with a new one-time password.
func (d *device) changePIN(ctx context.Context) error {
	pin, err := d.ask("New PIN: ", "") // asked first, so that a weak PIN costs no one-time password
	if err != nil {
		return err
	}
	if rule := brokenRule(pin.Reveal()); rule != "" {
		return fmt.Errorf("the new PIN must %s", rule)
	}
	operation, err := d.relay.Initiate(ctx)
	if err != nil {
		return &stepError{"initiate", err}
	}
	otp, err := d.ask("One-time password: ", operation)
	if err != nil {
		return err
	}
	secret := prepaid.PINSecret{OTP: otp, PIN: pin}
	envelope, err := d.key.Seal(secret) // each message has its own envelope, with a key and a vector that are used once
	if err != nil {
		return err
	}
	if err = d.relay.Validate(ctx, operation, envelope); prepaid.OutcomeOf(err) != prepaid.OutcomeApplied {
		return &stepError{"validate", err}
	}
	if envelope, err = d.key.Seal(secret); err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	// From here on, nothing interrupts the change: after an interruption, nobody would know which PIN is valid.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err = d.relay.Execute(ctx, operation, envelope); prepaid.OutcomeOf(err) != prepaid.OutcomeApplied {
		return &stepError{"execute", err}
	}
	return nil
}

// brokenRule returns the rule that a PIN breaks, or "". The operator defines which PINs a card accepts.
func brokenRule(pin string) string {
	const sequences = "01234567890 09876543210"
	switch {
	case len(pin) < 4 || len(pin) > 12 || strings.Trim(pin, "0123456789") != "":
		return "be 4 to 12 digits"
	case strings.Count(pin, pin[:1]) == len(pin) || strings.Contains(sequences, pin):
		return "not be a sequence, or one repeated digit"
	}
	return ""
}

// advise returns a text for the cardholder. The reference shows no code for a wrong password: step and outcome decide.
func advise(err error) string {
	failed, isStep := errors.AsType[*stepError](err)
	outcome := prepaid.OutcomeOf(err)
	switch {
	case err == nil:
		return "The new PIN is valid."
	case !isStep:
		return "The PIN is unchanged."
	case failed.step == "execute" && outcome == prepaid.OutcomeUnknown:
		return "Which PIN is valid is unknown. Try the card, the new PIN first, and start again only if the old one is still valid. " +
			"Wrong tries may block the card."
	case outcome == prepaid.OutcomeNotProcessed:
		return "The PIN is unchanged. Nothing was sent or counted. Start again later."
	case failed.step == "initiate" && outcome == prepaid.OutcomeRejected:
		return "The PIN is unchanged. No password was sent: the card's registration needs a mobile number and an e-mail address."
	case failed.step == "initiate":
		return "The PIN is unchanged. A password may be on its way. Start again, and use the one that arrives last."
	case outcome == prepaid.OutcomeRejected:
		return "The PIN is unchanged. The password was wrong or has expired. Start again for a new one; wrong tries may block the card."
	}
	return "The PIN is unchanged. This try may have counted. Start again."
}
