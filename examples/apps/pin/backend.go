package main

import (
	"context"
	"errors"

	"github.com/cardprograms/prepaid"
)

// This file is the partner's backend. It knows the cardholder's session and has the client of the service; it sees
// neither the PIN nor the one-time password.

var errNoOperation = errors.New("the response has no operation_id: ask the operator for its form")

// backend relays the messages of one cardholder's session.
type backend struct {
	client    *prepaid.Client
	account   prepaid.AccountID // the account of the session: a device could name any account
	deviceID  string            // the cardholder's registered device
	ipAddress string            // of the device's connection
	method    string            // how the one-time password is sent; the operator defines the values
}

// Initiate starts a change for the session's account.
func (b *backend) Initiate(ctx context.Context) (string, error) {
	started, err := b.client.PIN.Initiate(ctx, prepaid.InitiatePINParams{
		AccountID: b.account, DeviceID: b.deviceID, IPAddress: b.ipAddress, CommunicationMethod: b.method,
	})
	if err != nil {
		return "", err
	}
	var operation struct { // the emulator's form; the reference shows no form
		OperationID string `json:"operation_id"`
	}
	if err := started.Decode(&operation); err != nil || operation.OperationID == "" {
		return "", &prepaid.CallError{Operation: "PIN.Initiate", Outcome: prepaid.OutcomeApplied, Err: errNoOperation}
	}
	return operation.OperationID, nil
}

// The client checks the envelope's form, because a device can send anything.
func (b *backend) Validate(ctx context.Context, message sealed) error {
	_, err := b.client.PIN.Validate(ctx, b.params(message))
	return err
}

func (b *backend) Execute(ctx context.Context, message sealed) error {
	_, err := b.client.PIN.Execute(ctx, b.params(message))
	return err
}

func (b *backend) params(message sealed) prepaid.SealedPINParams {
	return prepaid.SealedPINParams{
		OperationID: message.OperationID, DeviceID: b.deviceID, IPAddress: b.ipAddress, Envelope: message.Envelope,
	}
}
