package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
)

// do executes the steps until a step fails or ctx ends.
func (q *quickstart) do(ctx context.Context) error {
	fmt.Fprintln(q.out, "prepaid quickstart")
	if q.emulator != nil {
		fmt.Fprintln(q.out, "An emulator of the service runs inside this process; nothing leaves this machine.")
	}
	for i, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"Check the deployment: address, TLS, credentials, whitelist, media type, clock", q.check},
		{"Issue three cards; a second run, with -again, finds the same cards", q.issue},
		{"Activate the new cards and load each from the float account, once per day", q.activateAndLoad},
		{"Buy through the simulator (test environment only)", q.buy},
		{"Transfer between two cards", q.transfer},
		{"Read the history of the first card, two items per page, the next page fetched ahead", q.history},
		{"Block a merchant category for the whole program, and try to buy there", q.policy},
		{"Run a report and stream its rows", q.report},
		{"Lose the response to a transfer: the outcome is unknown, and resolved without paying twice", q.lostResponse},
		{"Add up: every balance is the sum of its history", q.addUp},
	} {
		err := ctx.Err()
		if err == nil {
			fmt.Fprintf(q.out, "\n%2d. %s\n", i+1, step.title)
			err = step.do(ctx)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	fmt.Fprintln(q.out, "\nAll done.")
	return nil
}

func (q *quickstart) check(ctx context.Context) error {
	result, err := q.client.Check(ctx)
	if err != nil {
		return err
	}
	q.say("token valid for %s, media type %s, clock skew %s", result.TokenLifetime.Round(time.Second), result.MediaType, result.ClockSkew)
	return nil
}

// issue stops at the first card that was created but does not appear: another call of Issue would create a second card.
func (q *quickstart) issue(ctx context.Context) error {
	const columns = "%-5s  %-16s  %-10s  %s"
	q.say(columns, "KEY", "ACCOUNT ID", "STATUS", "HOW")
	for _, c := range []card{
		{key: "emp-1", load: prepaid.Cents(250_00)}, {key: "emp-2", load: prepaid.Cents(120_50)}, {key: "emp-3", load: prepaid.Cents(80_00)},
	} {
		issued, err := q.client.Accounts.Issue(ctx, prepaid.IssueParams{
			ProgramClientID: q.program,
			Account: prepaid.CreateAccountParams{
				CompanyID: q.company, ClientAccountKey: c.key,
				Cardholder: &prepaid.Cardholder{
					FirstName: "Ada", LastName: "Example", DateOfBirth: prepaid.Date{Year: 1990, Month: time.May, Day: 1},
					EmailAddress: "ada@example.com", MobileNumber: "+61400000001",
					PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
				},
			},
			VisibleWithin: q.look, Again: q.again,
		})
		if errors.Is(err, prepaid.ErrNotSeen) {
			return fmt.Errorf("%w: check the program's client_id before you run this again, or a second card is created", err)
		}
		if err != nil {
			return err
		}
		how := map[bool]string{true: "created", false: "existed"}[issued.Created]
		c.id, c.status = issued.Account.ID, issued.Account.Status
		q.say(columns, c.key, c.id, c.status, how)
		q.cards = append(q.cards, c)
	}
	return nil
}

// activateAndLoad activates and loads cards, and keeps only these for the next steps. It leaves blocked cards blocked.
func (q *quickstart) activateAndLoad(ctx context.Context) error {
	q.say("the loads of %s; each day has its own", q.day)
	const columns = "%-5s  %9s  %-11s  %9s"
	q.say(columns, "KEY", "LOADED", "TRANSACTION", "BALANCE")
	var active []card
	for _, c := range q.cards {
		switch c.status {
		case prepaid.AccountStatusActive:
		case prepaid.AccountStatusPreActive:
			if err := q.client.Accounts.SetStatus(ctx, c.id, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive}); err != nil {
				return err
			}
		default: // the card was blocked for a reason
			q.say("%-5s  %9s  is %s: left unchanged", c.key, "none", c.status)
			continue
		}
		active = append(active, c)
		result, err := q.client.Accounts.Transfer(ctx, q.float, prepaid.TransferParams{
			// The ID is derived, not random: after a crash the same run has the same IDs, and nobody is paid twice.
			RequestID: prepaid.DeriveRequestID(q.day, "quickstart", "load", string(c.id)),
			Amount:    c.load, Type: prepaid.TransferTypeLoad, DestinationAccountID: c.id,
			SourceReference: "QUICKSTART LOAD", DestinationReference: "INITIAL LOAD",
		})
		if err != nil {
			return err
		}
		account, err := q.client.Accounts.Summary(ctx, c.id)
		if err != nil {
			return err
		}
		q.say(columns, c.key, c.load, result.TransactionID, account.Balance)
	}
	if q.cards = active; len(active) < 2 {
		return errors.New("fewer than two active cards: the other steps need two")
	}
	return nil
}

const gambling = prepaid.MCC("7995")

// purchase simulates a purchase, and gives the service time to process it.
func (q *quickstart) purchase(ctx context.Context, c card, amount prepaid.Amount, category prepaid.MCC) (*prepaid.SimulationResult, error) {
	result, err := q.client.Simulation.Transact(ctx, prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePurchase, AccountID: c.id, Amount: amount,
		AcquirerID: "100001", MerchantID: "QUICKMART", TerminalID: "T0000001", MerchantCategoryCode: category,
		BankName: "Example Bank", Location: "Sydney", LocationCode: "AU", CurrencyCode: "036",
	})
	select {
	case <-time.After(q.pause):
	case <-ctx.Done():
	}
	return result, err
}

func (q *quickstart) buy(ctx context.Context) error {
	for i, c := range q.cards {
		amount := prepaid.Cents(int64(1995 + 500*i))
		result, err := q.purchase(ctx, c, amount, "5411")
		if err != nil {
			return err
		}
		account, err := q.client.Accounts.Summary(ctx, c.id)
		if err != nil {
			return err
		}
		q.say("%s  %9s at category 5411: approved %t, balance %9s", c.key, amount, result.Success, account.Balance)
	}
	return nil
}

func (q *quickstart) transfer(ctx context.Context) error {
	from, to := q.cards[0], q.cards[1]
	result, err := q.client.Accounts.Transfer(ctx, from.id, transferParams("gift", "30.00", to))
	if err != nil {
		return err
	}
	q.say("30.00 from %s to %s: transaction %s", from.key, to.key, result.TransactionID)
	return nil
}

func transferParams(what, amount string, to card) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount(amount), DestinationAccountID: to.id,
		SourceReference: "QUICKSTART " + what, DestinationReference: "QUICKSTART " + what,
	}
}

func (q *quickstart) history(ctx context.Context) error {
	params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 2, Prefetch: 1}}
	for t, err := range q.client.Accounts.Transactions(ctx, q.cards[0].id, params) {
		if err != nil {
			return err
		}
		q.say("%s  %s  %-30s  %9s, balance %9s", t.OccurredAt.Format(time.DateTime), t.Type, t.TypeDescription, t.Amount, t.RunningBalance)
	}
	return nil
}

// policy leaves the program's rules as they were, even if it is interrupted.
func (q *quickstart) policy(ctx context.Context) (err error) {
	policy, err := q.client.Policy.Categories(ctx, q.company)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(policy.Categories, func(rule prepaid.CategoryRule) bool { return rule.MerchantCategoryCode == gambling }) {
		q.say("skipped: a rule for category %s exists, and this program must not remove it", gambling)
		return nil
	}
	block := prepaid.ChangeRulesParams[prepaid.MCC]{Reason: "quickstart", Add: []prepaid.MCC{gambling}}
	err = q.client.Policy.ChangeCategories(ctx, q.company, block)
	if outcome := prepaid.OutcomeOf(err); outcome == prepaid.OutcomeApplied || outcome == prepaid.OutcomeUnknown {
		defer func() { err = errors.Join(err, q.removeRule(ctx)) }()
	}
	if err != nil {
		return err
	}
	q.say("default action %s, rule for category %s added", policy.DefaultAction, gambling)
	result, err := q.purchase(ctx, q.cards[0], prepaid.Cents(500), gambling)
	if err != nil {
		return err
	}
	q.say("%s       5.00 at category %s: approved %t (%s)", q.cards[0].key, gambling, result.Success, result.Message)
	if result.Success && policy.DefaultAction == prepaid.PolicyActionAllow {
		return errors.New("the blocked category was approved")
	}
	return nil
}

// removeRule removes the rule that q.policy added, even if q.policy failed: a leftover rule would decline real purchases.
func (q *quickstart) removeRule(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	unblock := prepaid.ChangeRulesParams[prepaid.MCC]{Reason: "quickstart", Remove: []prepaid.MCC{gambling}}
	err := q.client.Policy.ChangeCategories(ctx, q.company, unblock)
	if err != nil {
		return fmt.Errorf("the rule for category %s may still exist; check, and remove it manually: %w", gambling, err)
	}
	q.say("rule removed again")
	return nil
}
