package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// do executes the steps until a step fails or ctx ends.
func (q *quickstart) do(ctx context.Context) error {
	fmt.Fprintln(q.out, "prepaid quickstart")
	if q.emulator != nil {
		fmt.Fprintln(q.out, "An emulator of the service runs inside this process; nothing leaves this machine.")
	}
	for _, step := range []func(context.Context) error{
		q.check, q.issue, q.activateAndLoad, q.buy, q.transfer, q.history, q.policy, q.report, q.lostResponse, q.addUp,
	} {
		err := ctx.Err()
		if err == nil {
			err = step(ctx)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("interrupted: %w", err)
		case err != nil:
			return fmt.Errorf("step %d failed: %w", q.step, err)
		}
	}
	fmt.Fprintln(q.out, "\nAll done.")
	if q.emulator != nil {
		fmt.Fprintln(q.out, "\nNext, run it on the service's test environment: -h lists the variables.")
	}
	return nil
}

func (q *quickstart) check(ctx context.Context) error {
	q.title("Check the deployment: address, TLS, credentials, whitelist, media type, clock")
	result, err := q.client.Check(ctx)
	if err != nil {
		return err
	}
	q.say("token valid for %s, media type %s, clock skew %s", result.TokenLifetime.Round(time.Second), result.MediaType, result.ClockSkew)
	return nil
}

// issue ends at the first card that was created and does not appear: another call of Issue would create a second card.
func (q *quickstart) issue(ctx context.Context) error {
	q.title("Issue three cards; a second run, with -again, finds the same cards")
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
		how := "existed"
		if issued.Created {
			how = "created"
		}
		c.id, c.status = issued.Account.ID, issued.Account.Status
		q.say(columns, c.key, c.id, c.status, how)
		q.cards = append(q.cards, c)
	}
	return nil
}

// activateAndLoad keeps the cards that end up active. It skips blocked cards: they stay blocked.
func (q *quickstart) activateAndLoad(ctx context.Context) error {
	q.title("Activate the new cards and load each from the float account, once per day")
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
		balance, err := q.balance(ctx, c.id)
		if err != nil {
			return err
		}
		q.say(columns, c.key, c.load, result.TransactionID, balance)
	}
	if q.cards = active; len(active) < 2 {
		return errors.New("fewer than two active cards: the other steps need two")
	}
	return nil
}

const (
	groceries = prepaid.MCC("5411")
	gambling  = prepaid.MCC("7995")
)

// purchase simulates a purchase, and gives the service time to process it.
func (q *quickstart) purchase(ctx context.Context, c card, amount string, category prepaid.MCC) (*prepaid.SimulationResult, error) {
	result, err := q.client.Simulation.Transact(ctx, prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePurchase, AccountID: c.id, Amount: prepaid.MustAmount(amount),
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
	q.title("Buy through the simulator (test environment only)")
	for i, c := range q.cards {
		amount := prepaid.Cents(int64(1995 + 500*i)).String()
		result, err := q.purchase(ctx, c, amount, groceries)
		if err != nil {
			return err
		}
		balance, err := q.balance(ctx, c.id)
		if err != nil {
			return err
		}
		q.say("%s  %9s at category %s: %s, balance %9s", c.key, amount, groceries, approval(result.Success), balance)
	}
	return nil
}

func approval(success bool) string {
	if success {
		return "approved"
	}
	return "declined"
}

func (q *quickstart) transfer(ctx context.Context) error {
	from, to := q.cards[0], q.cards[1]
	q.title("Transfer between two cards")
	result, err := q.client.Accounts.Transfer(ctx, from.id, transferParams("gift", "30.00", to))
	if err != nil {
		return err
	}
	q.say("30.00 from %s to %s: transaction %s", from.key, to.key, result.TransactionID)
	var balances []string
	for _, c := range []card{from, to} {
		balance, err := q.balance(ctx, c.id)
		if err != nil {
			return err
		}
		balances = append(balances, c.key+" "+balance.String())
	}
	q.say("balances %s", strings.Join(balances, ", "))
	return nil
}

func transferParams(what, amount string, to card) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount(amount), DestinationAccountID: to.id,
		SourceReference: "QUICKSTART " + what, DestinationReference: "QUICKSTART " + what,
	}
}

func (q *quickstart) history(ctx context.Context) error {
	c := q.cards[0]
	q.title("Read the history of " + c.key + ", two items per page, the next page fetched ahead")
	const columns = "%-19s  %-4s  %-30s  %9s  %9s"
	q.say(columns, "WHEN (UTC)", "TYPE", "DESCRIPTION", "AMOUNT", "BALANCE")
	params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 2, Prefetch: 1}}
	for t, err := range q.client.Accounts.Transactions(ctx, c.id, params) {
		if err != nil {
			return err
		}
		q.say(columns, t.OccurredAt.Format(time.DateTime), t.Type, t.TypeDescription, t.Amount, t.RunningBalance)
	}
	return nil
}

// policy leaves the program's rules as they were, even if it is interrupted.
func (q *quickstart) policy(ctx context.Context) (err error) {
	q.title("Block a merchant category for the whole program, and try to buy there")
	before, err := q.client.Policy.Categories(ctx, q.company)
	if err != nil {
		return err
	}
	if slices.Contains(categories(before), string(gambling)) {
		q.say("skipped: a rule for category %s exists, and this program must not remove it", gambling)
		return nil
	}
	err = q.client.Policy.ChangeCategories(ctx, q.company, prepaid.ChangeRulesParams[prepaid.MCC]{
		Reason: "quickstart", Add: []prepaid.MCC{gambling},
	})
	if outcome := prepaid.OutcomeOf(err); outcome == prepaid.OutcomeApplied || outcome == prepaid.OutcomeUnknown {
		defer func() { err = errors.Join(err, q.removeRule(ctx)) }()
	}
	if err != nil {
		return err
	}
	policy, err := q.client.Policy.Categories(ctx, q.company)
	if err != nil {
		return err
	}
	q.say("default action %s, rules for the categories %s", policy.DefaultAction, strings.Join(categories(policy), ", "))
	result, err := q.purchase(ctx, q.cards[0], "5.00", gambling)
	if err != nil {
		return err
	}
	q.say("%s       5.00 at category %s: %s (%s)", q.cards[0].key, gambling, approval(result.Success), result.Message)
	if result.Success && policy.DefaultAction == prepaid.PolicyActionAllow {
		return errors.New("the blocked category was approved")
	}
	return nil
}

func categories(policy *prepaid.Policy) (codes []string) {
	for _, rule := range policy.Categories {
		codes = append(codes, string(rule.MerchantCategoryCode))
	}
	return codes
}

// removeRule removes the rule that policy added, even if policy failed: a leftover rule would decline real purchases.
func (q *quickstart) removeRule(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := q.client.Policy.ChangeCategories(ctx, q.company, prepaid.ChangeRulesParams[prepaid.MCC]{Reason: "quickstart", Remove: []prepaid.MCC{gambling}})
	if err != nil {
		return fmt.Errorf("the rule for category %s may still exist; check, and remove it manually: %w", gambling, err)
	}
	q.say("rule removed again")
	return nil
}
