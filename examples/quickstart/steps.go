package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// do executes all steps, until one fails or ctx ends.
func (q *quickstart) do(ctx context.Context, rows []row) error {
	fmt.Fprintln(q.out, "prepaid quickstart")
	if q.emulator != nil {
		fmt.Fprintln(q.out, "An emulator of the service runs inside this process; nothing leaves this machine.")
	}
	for _, step := range []func(context.Context) error{
		q.check, func(ctx context.Context) error { return q.issue(ctx, rows) }, q.activateAndLoad, q.buy,
		q.transfer, q.history, q.policy, q.report, q.lostResponse, q.addUp,
	} {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := step(ctx); err != nil {
			return err
		}
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

// issue ends at the first card that was created and does not appear: issuing again would create a second one.
func (q *quickstart) issue(ctx context.Context, rows []row) error {
	q.title("Issue a card for each line of the file; a second run, with -again, finds the same cards")
	return q.table("LINE\tKEY\tACCOUNT ID\tSTATUS\tHOW", func(w io.Writer) error {
		for _, r := range rows {
			issued, err := q.client.Accounts.Issue(ctx, prepaid.IssueParams{
				ProgramClientID: q.program,
				Account: prepaid.CreateAccountParams{
					CompanyID: q.company, ClientAccountKey: r.key, Cardholder: r.cardholder,
				},
				VisibleWithin: q.look, Again: q.again,
			})
			if errors.Is(err, prepaid.ErrNotSeen) {
				return fmt.Errorf("line %d: %w: check the program's client_id before you run this again, or a second card is created", r.line, err)
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", r.line, err)
			}
			how := "existed"
			if issued.Created {
				how = "created"
			}
			account := issued.Account
			fmt.Fprintf(w, "    %4d\t%s\t%s\t%s\t%s\n", r.line, r.key, account.ID, account.Status, how)
			q.cards = append(q.cards, card{key: r.key, id: account.ID, status: account.Status, load: r.load})
		}
		return nil
	})
}

// activateAndLoad keeps the cards that are active in the end. A blocked card stays blocked and is skipped.
func (q *quickstart) activateAndLoad(ctx context.Context) error {
	q.title("Activate the new cards and load each from the float account, once per day")
	q.say("the loads of %s; each day has its own", q.day)
	var active []card
	err := q.table("KEY\t   LOADED\tTRANSACTION\t  BALANCE", func(w io.Writer) error {
		for _, c := range q.cards {
			switch c.status {
			case prepaid.AccountStatusActive:
			case prepaid.AccountStatusPreActive:
				if err := q.client.Accounts.SetStatus(ctx, c.id, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive}); err != nil {
					return err
				}
			default: // it was blocked for a reason
				fmt.Fprintf(w, "    %s\t     none\tis %s: left unchanged\n", c.key, c.status)
				continue
			}
			active = append(active, c)
			result, err := q.client.Accounts.Transfer(ctx, q.float, prepaid.TransferParams{
				// Derived, not random: after a crash the same run has the same IDs, and nobody is paid twice.
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
			fmt.Fprintf(w, "    %s\t%9s\t%s\t%9s\n", c.key, c.load, result.TransactionID, balance)
		}
		return nil
	})
	q.cards = active
	if err == nil && len(active) < 2 {
		return errors.New("fewer than two active cards: the other steps need two")
	}
	return err
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
	source, err := q.balance(ctx, from.id)
	if err != nil {
		return err
	}
	destination, err := q.balance(ctx, to.id)
	if err != nil {
		return err
	}
	q.say("balances %s %s, %s %s", from.key, source, to.key, destination)
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
	return q.table("WHEN (UTC)\tTYPE\tDESCRIPTION\t   AMOUNT\t  BALANCE", func(w io.Writer) error {
		params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 2, Prefetch: 1}}
		for t, err := range q.client.Accounts.Transactions(ctx, c.id, params) {
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "    %s\t%s\t%s\t%9s\t%9s\n", t.OccurredAt.Format(time.DateTime), t.Type, t.TypeDescription, t.Amount, t.RunningBalance)
		}
		return nil
	})
}

// policy leaves the program's rules unchanged in the end, also if it is interrupted.
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
	err = q.client.Policy.ChangeCategories(ctx, q.company, prepaid.ChangeCategoriesParams{
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

// removeRule undoes policy, whatever ended it: a rule left behind would decline real purchases.
func (q *quickstart) removeRule(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := q.client.Policy.ChangeCategories(ctx, q.company, prepaid.ChangeCategoriesParams{Reason: "quickstart", Remove: []prepaid.MCC{gambling}})
	if err != nil {
		return fmt.Errorf("the rule for category %s may still exist; check, and remove it manually: %w", gambling, err)
	}
	q.say("rule removed again")
	return nil
}
