package main

import (
	"context"
	"errors"

	"github.com/cardprograms/prepaid"
)

// backend is the partner's server: it relays the messages of one cardholder's session, and sees neither the PIN nor the password.
type backend struct {
	client *prepaid.Client
	params prepaid.InitiatePINParams // the account is that of the session: a device could name any account
}

// Initiate starts a change for the session's account.
func (b *backend) Initiate(ctx context.Context) (string, error) {
	started, err := b.client.PIN.Initiate(ctx, b.params)
	if err != nil {
		return "", err
	}
	var operation struct { // the emulator's form; the reference shows no form
		OperationID string `json:"operation_id"`
	}
	if err := started.Decode(&operation); err != nil || operation.OperationID == "" {
		err = errors.Join(err, errors.New("the response has no operation_id: ask the operator for its form"))
		return "", &prepaid.CallError{Operation: "PIN.Initiate", Outcome: prepaid.OutcomeApplied, Err: err}
	}
	return operation.OperationID, nil
}

// Validate and Execute relay an envelope. The client checks its form, because a device can send anything.
func (b *backend) Validate(ctx context.Context, operationID string, envelope *prepaid.PINEnvelope) error {
	_, err := b.client.PIN.Validate(ctx, b.sealed(operationID, envelope))
	return err
}

func (b *backend) Execute(ctx context.Context, operationID string, envelope *prepaid.PINEnvelope) error {
	_, err := b.client.PIN.Execute(ctx, b.sealed(operationID, envelope))
	return err
}

func (b *backend) sealed(operationID string, envelope *prepaid.PINEnvelope) prepaid.SealedPINParams {
	return prepaid.SealedPINParams{OperationID: operationID, DeviceID: b.params.DeviceID, IPAddress: b.params.IPAddress, Envelope: envelope}
}
