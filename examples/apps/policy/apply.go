package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

var (
	errChanged = errors.New("the policy has changed meanwhile")
	errStopped = errors.New("stopped")
)

// session runs one command.
type session struct {
	options

	client  *prepaid.Client
	confirm func(context.Context) error
	out     io.Writer
}

// export writes the policy as a file.
func (s *session) export(ctx context.Context) error {
	p, err := s.client.Policy.Get(ctx, s.company)
	if err != nil {
		return err
	}
	return writeFile(s.out, s.company, p)
}

// plan has the changes as text for users: + is an added rule, ~ a replaced one, - a removed one.
type plan struct {
	session  *session
	document *document
	pass     pass

	text    strings.Builder
	changes int
}

func (p *plan) digest() string {
	return fmt.Sprintf("%.8x", sha256.Sum256([]byte(p.text.String())))
}

// show reads the policy and prints the changes that the file would make.
func (s *session) show(ctx context.Context, d *document) (*plan, error) {
	p, err := s.ensure(ctx, d, pass{dryRun: true, removeOthers: true})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.out, "Policy of program %s: default action %s, each rule does the opposite\n%s", d.Company, d.DefaultAction, p.text.String())
	if p.changes == 0 {
		fmt.Fprintln(s.out, "Nothing to do.")
	} else {
		fmt.Fprintf(s.out, "Plan %s.\n", p.digest())
	}
	return p, nil
}

// apply shows the plan, asks for confirmation, applies the plan and reads the policy back.
func (s *session) apply(ctx context.Context, d *document) error {
	p, err := s.show(ctx, d)
	switch {
	case err != nil:
		return err
	case s.expect != "" && s.expect != p.digest():
		return errors.New("the plan is not the one of -expect, nothing was sent")
	case p.changes == 0:
		return nil
	}
	if !s.yes {
		if err := s.confirm(ctx); err != nil {
			return err
		}
	}
	// The user confirmed the plan that was shown, perhaps an hour ago: check that it is still the same.
	again, err := s.ensure(ctx, d, pass{dryRun: true, removeOthers: true})
	switch {
	case err != nil:
		return err
	case again.text.String() != p.text.String():
		return fmt.Errorf("%w since the plan was made, nothing was sent", errChanged)
	}
	// The rules of a block list restrict payments: a first pass adds the new ones of every list, before any rule is removed. An
	// allow list needs no such pass: the SDK removes its old rules before it adds new rules.
	if d.DefaultAction == prepaid.PolicyActionAllow {
		_, err = s.ensure(ctx, d, pass{})
	}
	if err == nil {
		_, err = s.ensure(ctx, d, pass{removeOthers: true})
	}
	left, readErr := s.ensure(context.WithoutCancel(ctx), d, pass{dryRun: true, removeOthers: true})
	switch {
	case readErr != nil:
		return errors.Join(err, readErr)
	case err == nil && left.changes > 0:
		err = errChanged
	}
	if err != nil {
		fmt.Fprintf(s.out, "Not done. Run it again. According to the last read, this is left:\n%s", left.text.String())
		return err
	}
	fmt.Fprintln(s.out, "Done. Read back: the policy is as wanted.")
	return nil
}

// pass has the options of one pass over the lists. A pass that removes other rules also replaces texts, unless -ignore-texts is set.
type pass struct{ dryRun, removeOthers bool }

// ensure makes each list of the policy equal to the list in the file. The SDK reads a list, sends the difference, repeats no change,
// and reads the list back.
func (s *session) ensure(ctx context.Context, d *document, pass pass) (*plan, error) {
	p, policies := &plan{session: s, document: d, pass: pass}, s.client.Policy
	merchants := converted(d.Merchants, func(m merchant) prepaid.MerchantRule { return prepaid.MerchantRule(m) })
	terminals := converted(d.Terminals, func(t terminal) prepaid.TerminalRule { return prepaid.TerminalRule(t) })
	err := list(ctx, p, "categories", d.Categories, policies.EnsureCategories, func(c prepaid.MCC) string { return fmt.Sprintf("%q", c) })
	if err == nil {
		err = list(ctx, p, "merchants", merchants, policies.EnsureMerchants, func(r prepaid.MerchantRule) string {
			return fmt.Sprintf("%d %q %q", r.AcquirerID, r.CardAcceptorID, r.Description)
		})
	}
	if err == nil {
		err = list(ctx, p, "terminals", terminals, policies.EnsureTerminals, func(r prepaid.TerminalRule) string {
			return fmt.Sprintf("%d %q %q %q %q", r.AcquirerID, r.CardAcceptorID, r.TerminalID, r.CardAcceptorNameLocation, r.Description)
		})
	}
	return p, err
}

// converted converts the rules of a list. Nil stays nil.
func converted[From, To any](list []From, convert func(From) To) []To {
	if list == nil {
		return nil
	}
	rules := make([]To, 0, len(list))
	for _, rule := range list {
		rules = append(rules, convert(rule))
	}
	return rules
}

// list changes one list, unless rules is nil. It adds the result to the plan, with foreign text quoted. Ctrl+C takes effect only
// between two lists: a call that is cut off would have an unknown outcome.
func list[R any](ctx context.Context, p *plan, name string, rules []R,
	ensure func(context.Context, prepaid.CompanyID, prepaid.EnsureRulesParams[R]) (*prepaid.EnsuredRules[R], error), show func(R) string,
) error {
	if rules == nil {
		fmt.Fprintf(&p.text, "  %s: not in the file, unchanged\n", name)
		return nil
	}
	if ctx.Err() != nil {
		return errStopped
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	done, err := ensure(ctx, p.document.Company, prepaid.EnsureRulesParams[R]{
		DefaultAction: p.document.DefaultAction, Rules: rules, RemoveOthers: p.pass.removeOthers,
		ReplaceTexts: p.pass.removeOthers && !p.session.ignoreTexts, Reason: p.session.reason, DryRun: p.pass.dryRun,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(&p.text, "  %s: %d to add, %d to replace, %d to remove, %d unchanged\n",
		name, len(done.Added), len(done.Replaced), len(done.Removed), len(done.Unchanged))
	for _, part := range []struct {
		sign  string
		rules []R
	}{{"+", done.Added}, {"~", done.Replaced}, {"-", done.Removed}} {
		for _, rule := range part.rules {
			fmt.Fprintf(&p.text, "    %s %s\n", part.sign, show(rule))
			p.changes++
		}
	}
	return nil
}

// ask requires the whole word yes, so that nobody confirms by mistake.
func ask(ctx context.Context, in io.Reader, out io.Writer) error {
	fmt.Fprint(out, "Type yes to apply: ")
	typed := make(chan string, 1)
	go func() { // a read of a terminal cannot be cancelled; the process ends soon
		line, _ := bufio.NewReader(in).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		if line == "yes" {
			return nil
		}
	case <-ctx.Done():
	}
	return errors.New("not confirmed, nothing was sent")
}
