package main

import (
	"context"
	_ "embed" // the shipped file
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

//go:embed policy.yaml
var shipped []byte

// fictional is the policy of the emulator.
const fictional = `{"companies": [{
	"id": 42, "client_id": "acme", "categories": [5933, 7995],
	"merchants": [
		{"acquirer_id": 100001, "card_acceptor_id": "CASINO", "description": "Casino"},
		{"acquirer_id": 100002, "card_acceptor_id": "RACES", "description": "Race course"}
	],
	"terminals": [{"acquirer_id": 100001, "card_acceptor_id": "QUICKMART", "terminal_id": "T9", "description": "bottle shop"}]
}]}`

// emulate starts an emulator whose program blocks a few places.
func emulate() (*prepaidtest.Server, error) {
	emulator, err := prepaidtest.Start(prepaidtest.Options{})
	if err == nil {
		err = emulator.Load(strings.NewReader(fictional))
	}
	return emulator, err
}

// demonstrate shows each command on an emulator.
func demonstrate(ctx context.Context, out io.Writer) error {
	emulator, err := emulate()
	if err != nil {
		return err
	}
	defer emulator.Close() //nolint:errcheck // its data is not needed any more
	client := emulator.Client()
	d, err := readFile(shipped)
	if err != nil {
		return err
	}
	s := &session{client: client, out: out, options: options{company: d.Company, reason: "demonstration"}}

	fmt.Fprint(out, "\n== Export: the emulator's initial policy as a file\n\n")
	if err := s.export(ctx); err != nil {
		return err
	}
	fmt.Fprint(out, "\n== Apply policy.yaml, while another user changes the policy before the confirmation\n\n")
	other := prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"5813"}}
	s.confirm = func(ctx context.Context) error { return client.Policy.ChangeCategories(ctx, d.Company, other) }
	if err := s.apply(ctx, d); !errors.Is(err, errChanged) {
		return fmt.Errorf("the change was not noticed: %w", err)
	}
	fmt.Fprintf(out, "%v: nothing was sent\n", errChanged)

	fmt.Fprint(out, "\n== Apply again. The response to the first call is lost; reading back shows that it had an effect\n\n")
	emulator.Inject("POST /policy/{id}/categories", prepaidtest.CommitThenDrop())
	s.yes = true
	return s.apply(ctx, d)
}
