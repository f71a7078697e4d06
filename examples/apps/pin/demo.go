package main

import (
	"context"
	"errors"
	"io"

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
	key, err := newKey(prepaid.PINKeyOptions{}, srv.PINCertificate(), say)
	if err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	b := &backend{
		client: srv.Client(), account: srv.AddAccount(prepaidtest.SeedAccount{}), deviceID: "device-1",
		ipAddress: "203.0.113.7", method: "sms",
	}
	return &emulated{device: &device{key: key, relay: b, say: say}, srv: srv, backend: b}, nil
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

// demonstrate changes a PIN, then shows possible failures and how to handle them.
func demonstrate(ctx context.Context, say func(string, ...any), out io.Writer) error {
	e, err := emulate(say)
	if err != nil {
		return err
	}
	defer e.srv.Close() //nolint:errcheck // its data is not needed any more
	wrong := func() string { return "not it" }
	for _, scene := range []struct {
		title, pin string
		otp        func() string
		status     int    // exit status of the program
		pinIs      string // the valid PIN afterwards
	}{
		{"A PIN is changed", "4821", e.phone, 0, "4821"},
		{"A weak PIN is refused where it is typed: nothing is sent", "1234", e.phone, 1, "4821"},
		{"The one-time password is wrong", "7350", wrong, 1, "4821"},
		{"The response to the last step is lost: it is not sent again", "7350", e.phone, 3, "7350"},
	} {
		say("\n== %s\n", scene.title)
		if scene.status == 3 {
			e.srv.Inject("POST /pin/execute", prepaidtest.CommitThenDrop())
		}
		e.keypad = scripted{scene.pin, scene.otp}
		if conclude(e.changePIN(ctx), say, out) != scene.status || e.srv.PINOf(e.backend.account) != scene.pinIs {
			return errors.New("the demonstration did not go as expected")
		}
	}
	return nil
}
