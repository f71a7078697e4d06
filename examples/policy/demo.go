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
var shipped string

// broken has each kind of fault that is easily made.
const broken = `company: 42
default_action: allow
categories: [7995, 742, 7995]
merchant: []
terminals:
`

var errDemo = errors.New("the demonstration did not go as expected")

// demonstrate shows everything, on an emulator.
func demonstrate(ctx context.Context, out io.Writer) error {
	s, err := emulate()
	if err != nil {
		return err
	}
	defer s.close()
	s.in, s.out = strings.NewReader(""), out
	title := func(text string) { fmt.Fprintf(out, "\n== %s\n\n", text) }
	options := options{reason: "demonstration"}

	title("Export: the emulator's initial policy as a file")
	if err := s.export(ctx, prepaidtest.DefaultCompany); err != nil {
		return err
	}

	title("A file with faults is refused by line, before anything is sent")
	_, _, err = readPolicy("broken.yaml", strings.NewReader(broken))
	if err == nil {
		return errDemo
	}
	fmt.Fprintln(out, err)

	title("Plan policy.yaml: the smallest change from the policy to the file")
	company, wanted, err := readPolicy("policy.yaml", strings.NewReader(shipped))
	if err != nil {
		return err
	}
	if _, err := s.plan(ctx, company, wanted, options); err != nil {
		return err
	}

	title("Apply, while somebody else changes the policy before the confirmation")
	s.in = readerFunc(func(b []byte) (int, error) {
		other := prepaid.ChangeCategoriesParams{Add: []prepaid.MCC{"5813"}}
		if err := s.client.Policy.ChangeCategories(ctx, company, other); err != nil {
			return 0, err
		}
		return copy(b, "yes\n"), nil
	})
	err = s.apply(ctx, company, wanted, options)
	fmt.Fprintf(out, "yes\n%v\n", err)
	if !errors.Is(err, errChanged) {
		return errDemo
	}

	title("Apply again, to the policy as it is now; the response to the first call is lost, and reading back shows it")
	s.emulator.Inject("POST /policy/{id}/categories", prepaidtest.CommitThenDrop())
	options.yes = true
	if err := s.apply(ctx, company, wanted, options); err != nil {
		return err
	}

	title("Plan again")
	changes, err := s.plan(ctx, company, wanted, options)
	if err == nil && changes {
		return errDemo
	}
	return err
}

// readerFunc is a reader that does something first.
type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
