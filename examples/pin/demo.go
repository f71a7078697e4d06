package main

import (
	"context"
	"errors"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// emulated is a device and a backend on an emulator with one card.
type emulated struct {
	*device

	srv     *prepaidtest.Server
	backend *backend
}

func emulate(say func(string, ...any)) (*emulated, error) {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return nil, err
	}
	key, err := newKey(prepaid.PINKeyOptions{Hash: prepaid.PINHashSHA256}, srv.PINCertificate(), say)
	if err != nil {
		_ = srv.Close()
		return nil, err
	}
	b := &backend{
		client: srv.Client(), account: srv.AddAccount(prepaidtest.SeedAccount{}), deviceID: "device-1",
		ipAddress: "203.0.113.7", method: "sms",
	}
	return &emulated{device: &device{key: key, relay: b, say: say}, srv: srv, backend: b}, nil
}

func (e *emulated) close() {
	_ = e.backend.client.Close()
	_ = e.srv.Close()
}

// phone returns the one-time password that the cardholder gets.
func (e *emulated) phone() string { return e.srv.OTP(e.operation) }

// scripted is a cardholder who types the input of the demonstration.
type scripted struct {
	pin string
	otp func() string
}

func (s scripted) newPIN(context.Context) (prepaid.Secret, error) {
	return prepaid.NewSecret(s.pin), nil
}

func (s scripted) oneTimePassword(context.Context) (prepaid.Secret, error) {
	return prepaid.NewSecret(s.otp()), nil
}

var errDemo = errors.New("the demonstration did not go as expected")

// demonstrate changes a PIN, then shows possible failures and how to handle them.
func demonstrate(ctx context.Context, say func(string, ...any)) error {
	e, err := emulate(say)
	if err != nil {
		return err
	}
	defer e.close()
	for _, scene := range []struct {
		title string
		pin   string
		otp   func() string
		fault prepaidtest.Fault // fault of the call execute
		want  verdict
		pinIs string // afterwards
	}{
		{title: "A PIN is changed", pin: "4821", otp: e.phone, want: pinChanged, pinIs: "4821"},
		{title: "A weak PIN is refused where it is typed: nothing is sent", pin: "1234", otp: e.phone, want: pinAsBefore, pinIs: "4821"},
		{title: "The one-time password is wrong", pin: "7350", otp: func() string { return "not it" }, want: pinAsBefore, pinIs: "4821"},
		{
			title: "The response to the last step is lost: it is not sent again", pin: "7350", otp: e.phone,
			fault: prepaidtest.CommitThenDrop(), want: pinUnknown, pinIs: "7350",
		},
	} {
		say("\n== %s\n", scene.title)
		e.keypad = scripted{scene.pin, scene.otp}
		e.srv.Inject("POST /pin/execute", scene.fault)
		err := e.changePIN(ctx)
		e.srv.ClearFaults()
		known, advice := advise(err)
		if err != nil {
			say("%v", err)
		}
		say("%s", advice)
		if known != scene.want || e.srv.PINOf(e.backend.account) != scene.pinIs {
			return errDemo
		}
	}
	return nil
}
