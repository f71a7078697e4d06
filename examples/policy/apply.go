package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// listLimit bounds the calls for one list: Ctrl+C does not end them.
const listLimit = 2 * time.Minute

var (
	errDeclined = errors.New("not confirmed, nothing was sent")
	errDigest   = errors.New("the plan is not the one of -expect, nothing was sent")
	errChanged  = errors.New("the policy has changed meanwhile")
	errStopped  = errors.New("stopped")
)

// session runs one command.
type session struct {
	options

	client *prepaid.Client
	in     io.Reader
	out    io.Writer
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
	text    strings.Builder
	changes int
}

func (p *plan) digest() string {
	sum := sha256.Sum256([]byte(p.text.String()))
	return hex.EncodeToString(sum[:])[:16]
}

// show reads the policy and prints the changes that the file would make.
func (s *session) show(ctx context.Context, d *document) (*plan, error) {
	p, err := s.ensure(ctx, d, pass{dryRun: true, removeOthers: true})
	if err != nil {
		return nil, err
	}
	effect := "rules block"
	if d.DefaultAction == prepaid.PolicyActionDeny {
		effect = "rules allow"
	}
	fmt.Fprintf(s.out, "Policy of program %s: default action %s, %s\n%s", d.Company, d.DefaultAction, effect, p.text.String())
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
		return errDigest
	case p.changes == 0:
		return nil
	}
	if !s.yes {
		if err := s.confirm(ctx); err != nil {
			return err
		}
	}
	// The question may have been open for an hour: the confirmation is for the old plan.
	again, err := s.ensure(ctx, d, pass{dryRun: true, removeOthers: true})
	if err != nil {
		return err
	}
	if again.text.String() != p.text.String() {
		return fmt.Errorf("%w since the plan was made, nothing was sent", errChanged)
	}
	// The rules of a block list restrict payments: all are added, in each list, before any rule is removed. An allow list needs
	// no such pass: its old rules are removed before new rules are added, as the SDK does.
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
	p, policies, texts := &plan{}, s.client.Policy, pass.removeOthers && !s.ignoreTexts
	err := list(ctx, p, "categories", d.Categories != nil, func(ctx context.Context) (*prepaid.EnsuredRules[prepaid.MCC], error) {
		return policies.EnsureCategories(ctx, d.Company, prepaid.EnsureRulesParams[prepaid.MCC]{
			DefaultAction: d.DefaultAction, Rules: d.Categories, RemoveOthers: pass.removeOthers, Reason: s.reason, DryRun: pass.dryRun,
		})
	}, func(code prepaid.MCC) string { return fmt.Sprintf("%q", code) })
	if err != nil {
		return p, err
	}
	err = list(ctx, p, "merchants", d.Merchants != nil, func(ctx context.Context) (*prepaid.EnsuredRules[prepaid.MerchantRule], error) {
		rules := make([]prepaid.MerchantRule, 0, len(d.Merchants))
		for _, m := range d.Merchants {
			rules = append(rules, prepaid.MerchantRule{AcquirerID: m.AcquirerID, CardAcceptorID: m.CardAcceptorID, Description: m.Description})
		}
		return policies.EnsureMerchants(ctx, d.Company, prepaid.EnsureRulesParams[prepaid.MerchantRule]{
			DefaultAction: d.DefaultAction, Rules: rules, RemoveOthers: pass.removeOthers, ReplaceTexts: texts,
			Reason: s.reason, DryRun: pass.dryRun,
		})
	}, func(r prepaid.MerchantRule) string {
		return fmt.Sprintf("%d %q %q", r.AcquirerID, r.CardAcceptorID, r.Description)
	})
	if err != nil {
		return p, err
	}
	return p, list(ctx, p, "terminals", d.Terminals != nil, func(ctx context.Context) (*prepaid.EnsuredRules[prepaid.TerminalRule], error) {
		rules := make([]prepaid.TerminalRule, 0, len(d.Terminals))
		for _, t := range d.Terminals {
			rules = append(rules, prepaid.TerminalRule{
				AcquirerID: t.AcquirerID, CardAcceptorID: t.CardAcceptorID, TerminalID: t.TerminalID,
				CardAcceptorNameLocation: t.NameLocation, Description: t.Description,
			})
		}
		return policies.EnsureTerminals(ctx, d.Company, prepaid.EnsureRulesParams[prepaid.TerminalRule]{
			DefaultAction: d.DefaultAction, Rules: rules, RemoveOthers: pass.removeOthers, ReplaceTexts: texts,
			Reason: s.reason, DryRun: pass.dryRun,
		})
	}, func(r prepaid.TerminalRule) string {
		return fmt.Sprintf("%d %q %q %q %q", r.AcquirerID, r.CardAcceptorID, r.TerminalID, r.CardAcceptorNameLocation, r.Description)
	})
}

// list changes one list and adds the result to the plan, in which foreign text is quoted. Ctrl+C takes effect only between two
// lists: a call that is cut off would have an unknown outcome.
func list[R any](ctx context.Context, p *plan, name string, managed bool,
	ensure func(context.Context) (*prepaid.EnsuredRules[R], error), show func(R) string,
) error {
	if !managed {
		fmt.Fprintf(&p.text, "  %s: not in the file, unchanged\n", name)
		return nil
	}
	if ctx.Err() != nil {
		return errStopped
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listLimit)
	defer cancel()
	done, err := ensure(ctx)
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

// confirm requires the whole word yes, so that nobody confirms by mistake.
func (s *session) confirm(ctx context.Context) error {
	fmt.Fprint(s.out, "Type yes to apply: ")
	typed := make(chan string, 1)
	go func() { // a read of a terminal cannot be cancelled; the process ends soon
		line, _ := bufio.NewReader(s.in).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		if line == "yes" {
			return nil
		}
	case <-ctx.Done():
		fmt.Fprintln(s.out)
	}
	return errDeclined
}
