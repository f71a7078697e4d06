// Policy keeps the rules of a card program in a file. It shows the changes that the file would make, and makes them with -apply:
//
//	policy policy.json
//	policy -apply policy.json
//
// Without PREPAID_BASE_URL it applies the shipped policy.json on an emulator inside this process.
package main

import (
	"bytes"
	"context"
	_ "embed" // policy.json
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	apply := flag.Bool("apply", false, "make the changes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, flag.Arg(0), *apply)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file string, apply bool) error {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate(ctx)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	return errors.Join(ensure(ctx, client.Policy, text, apply), client.Close())
}

// document is the file. A list that it omits stays as it is; an empty one removes all rules. The default action must be the program's: with
// "allow" a rule blocks, with "deny" a rule allows.
type document struct {
	Company       prepaid.CompanyID      `json:"company"`
	DefaultAction prepaid.PolicyAction   `json:"default_action"`
	Categories    []prepaid.MCC          `json:"categories"`
	Merchants     []prepaid.MerchantRule `json:"merchants"`
	Terminals     []prepaid.TerminalRule `json:"terminals"`
}

// ensure makes each list of the policy equal to that of the file. The SDK checks the rules, sends only the differences, those that restrict
// first, repeats no change, and reads the list back.
func ensure(ctx context.Context, policy *prepaid.PolicyService, file []byte, apply bool) error {
	var d document
	in := json.NewDecoder(bytes.NewReader(file))
	in.DisallowUnknownFields() // a list under a wrong key would never be applied
	if err := in.Decode(&d); err != nil {
		return err
	}
	err := list(ctx, &d, "categories", d.Categories, policy.EnsureCategories, apply)
	if err == nil {
		err = list(ctx, &d, "merchants", d.Merchants, policy.EnsureMerchants, apply)
	}
	if err == nil {
		err = list(ctx, &d, "terminals", d.Terminals, policy.EnsureTerminals, apply)
	}
	return err
}

// list changes one list. Ctrl+C takes effect only between two lists: a call that is cut off would have an unknown outcome.
func list[R any](ctx context.Context, d *document, name string, rules []R,
	ensure func(context.Context, prepaid.CompanyID, prepaid.EnsureRulesParams[R]) (*prepaid.EnsureRulesResult[R], error), apply bool,
) error {
	if rules == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	done, err := ensure(ctx, d.Company, prepaid.EnsureRulesParams[R]{
		DefaultAction: d.DefaultAction, Rules: rules, RemoveOthers: true, ReplaceTexts: true, DryRun: !apply,
	})
	if err != nil { // run it again: the SDK reads the list before it sends anything
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Printf("%s: %d to add, %d to replace, %d to remove, %d unchanged\n",
		name, len(done.Added), len(done.Replaced), len(done.Removed), len(done.Unchanged))
	for _, part := range []struct {
		sign  string
		rules []R
	}{{"+", done.Added}, {"~", done.Replaced}, {"-", done.Removed}} {
		for _, rule := range part.rules {
			text, err := json.Marshal(rule) // escapes control characters
			if err != nil {
				return err
			}
			fmt.Printf("  %s %s\n", part.sign, text)
		}
	}
	return nil
}

//go:embed policy.json
var shipped []byte

// emulate shows and applies the shipped policy on an emulator whose program has other rules.
func emulate(ctx context.Context) (err error) {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	err = srv.Load(strings.NewReader(`{"companies": [{"id": 42, "client_id": "acme", "categories": [5933, 7995], "merchants": [
		{"acquirer_id": 100001, "card_acceptor_id": "CASINO", "description": "Casino"},
		{"acquirer_id": 100002, "card_acceptor_id": "RACES", "description": "Race course"}]}]}`))
	if err != nil {
		return err
	}
	return errors.Join(ensure(ctx, srv.Client().Policy, shipped, false), ensure(ctx, srv.Client().Policy, shipped, true))
}
