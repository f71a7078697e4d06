package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

var (
	errDeclined = errors.New("not confirmed, nothing was sent")
	errDigest   = errors.New("the plan is not the one of -expect, nothing was sent")
)

// session is the environment of a command.
type session struct {
	client   *prepaid.Client
	emulator *prepaidtest.Server // nil for the real service
	settle   time.Duration
	in       io.Reader
	out      io.Writer
}

// connect connects to the service of the environment, or starts an emulator with a small policy.
func connect(o options, errOut io.Writer) (*session, error) {
	if o.emulator {
		fmt.Fprintln(errOut, "policy: on an emulator inside this process; changes are lost when it ends")
		return emulate()
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	return &session{client: client, settle: 10 * time.Second}, nil // as long as the SDK gives a transfer to finish
}

// emulate starts an emulator whose program blocks a few places.
func emulate() (*session, error) {
	emulator, err := prepaidtest.Start()
	if err != nil {
		return nil, err
	}
	s := &session{client: emulator.Client(), emulator: emulator, settle: 50 * time.Millisecond}
	if err := emulator.Load(strings.NewReader(fictional)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// fictional is the policy of the emulator.
const fictional = `{"companies": [{
	"id": 42, "client_id": "acme", "categories": [5933, 7995],
	"merchants": [
		{"acquirer_id": 100001, "card_acceptor_id": "CASINO", "description": "Casino"},
		{"acquirer_id": 100002, "card_acceptor_id": "RACES", "description": "Race course"}
	],
	"terminals": [{"acquirer_id": 100001, "card_acceptor_id": "QUICKMART", "terminal_id": "T9", "description": "bottle shop"}]
}]}`

func (s *session) close() {
	_ = s.client.Close()
	if s.emulator != nil {
		_ = s.emulator.Close()
	}
}

// export writes the policy as a file.
func (s *session) export(ctx context.Context, company prepaid.CompanyID) error {
	current, err := s.client.Policy.Get(ctx, company)
	if err != nil {
		return err
	}
	return writePolicy(s.out, company, stateOf(current))
}

// prepared is a plan that was shown.
type prepared struct {
	company         prepaid.CompanyID
	current, wanted state
	plan            plan
	digest          string
}

// plan shows what would change, and reports whether anything would.
func (s *session) plan(ctx context.Context, company prepaid.CompanyID, wanted state, o options) (bool, error) {
	p, err := s.prepare(ctx, company, wanted, o)
	return err == nil && !p.plan.empty(), err
}

// prepare reads the policy, plans and shows the plan.
func (s *session) prepare(ctx context.Context, company prepaid.CompanyID, wanted state, o options) (*prepared, error) {
	read, err := s.client.Policy.Get(ctx, company)
	if err != nil {
		return nil, err
	}
	current := stateOf(read).within(wanted)
	if current.action != wanted.action {
		return nil, fmt.Errorf("%w: default_action is not the program's: its rules would do the opposite", errInput)
	}
	if o.ignoreTexts {
		wanted = sameTexts(current, wanted)
	}
	p := &prepared{company: company, current: current, wanted: wanted, plan: makePlan(current, wanted)}
	if p.digest, err = p.plan.digest(company, current); err != nil {
		return nil, err
	}
	fmt.Fprintf(s.out, "Policy of program %s: ", company)
	p.plan.write(s.out, s.categoryNames(ctx, &p.plan))
	if p.plan.empty() {
		fmt.Fprintln(s.out, "Nothing to do.")
		return p, nil
	}
	fmt.Fprintf(s.out, "Plan %s: %s.\n", p.digest, p.plan.count())
	return p, nil
}

// categoryNames looks up the service's names of categories. A plan is readable without them.
func (s *session) categoryNames(ctx context.Context, p *plan) describer {
	if len(p.categories.add)+len(p.categories.remove) == 0 {
		return nil
	}
	known := make(map[prepaid.MCC]string)
	for code, err := range s.client.Policy.MerchantCategoryCodes(ctx, prepaid.ListMerchantCategoryCodesParams{}) {
		if err != nil {
			return nil
		}
		known[code.Code] = fmt.Sprintf("%q", code.Description)
	}
	return func(code prepaid.MCC) string {
		return cmp.Or(known[code], "(not listed by the service)")
	}
}

// apply shows the plan, asks, and carries it out.
func (s *session) apply(ctx context.Context, company prepaid.CompanyID, wanted state, o options) error {
	p, err := s.prepare(ctx, company, wanted, o)
	if err != nil {
		return err
	}
	if o.expect != "" && o.expect != p.digest {
		return errDigest
	}
	if p.plan.empty() {
		return nil
	}
	if !o.yes {
		if err := s.confirm(ctx); err != nil {
			return err
		}
	}
	a := &applier{client: s.client, company: company, reason: o.reason, settle: s.settle, out: s.out}
	// The question may have been open for an hour: the confirmation is for the plan of the policy as it was.
	again, err := a.read(ctx, p.wanted)
	if err != nil {
		return err
	}
	if !again.equal(p.current) {
		return fmt.Errorf("%w since the plan was made, nothing was sent", errChanged)
	}
	failed := a.converge(ctx, p.wanted)
	final, err := a.read(ctx, p.wanted)
	switch {
	case err != nil:
		return errors.Join(failed, err)
	case failed == nil && !final.equal(p.wanted):
		failed = errChanged
	}
	if failed != nil {
		rest := makePlan(final, p.wanted)
		fmt.Fprint(s.out, "Not done. According to the last read, this is left: ")
		rest.write(s.out, nil)
		return failed
	}
	fmt.Fprintln(s.out, "Done. Read back: the policy is as wanted.")
	return nil
}

// confirm requires the whole word, so that it is typed on purpose.
func (s *session) confirm(ctx context.Context) error {
	fmt.Fprint(s.out, "Type yes to apply: ")
	answer := make(chan string, 1)
	go func() { // a read of a terminal cannot be cancelled; the process ends soon
		line, _ := bufio.NewReader(s.in).ReadString('\n')
		answer <- strings.TrimSpace(line)
	}()
	select {
	case line := <-answer:
		if line == "yes" {
			return nil
		}
		return errDeclined
	case <-ctx.Done():
		fmt.Fprintln(s.out)
		return errDeclined
	}
}
