package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// shownRows of a report are printed: that of a real program may have millions.
const shownRows = 6

func (q *quickstart) report(ctx context.Context) {
	q.title("Run a report and stream its rows")
	if q.template == "" {
		q.say("skipped: PREPAID_REPORT_TEMPLATE is not set")
		return
	}
	report, err := q.client.Reporting.Run(ctx, q.template, prepaid.RunReportParams{IncludeColumnHeaders: true, WaitForPrevious: true})
	if err != nil {
		q.fail(err)
		return
	}
	defer report.Close()
	rows := 0
	q.table("template "+q.template+", run "+report.Run().ID, func(w io.Writer) {
		for row, err := range report.Rows() {
			if err != nil {
				q.fail(err)
				return
			}
			if rows++; rows <= shownRows {
				fmt.Fprintln(w, "    "+strings.Join(row, "\t"))
			}
		}
	})
	total, _ := report.TotalRecords()
	q.say("%d rows read, including the header row, the first %d shown; the service counted %d records", rows, min(rows, shownRows), total)
}

func (q *quickstart) changePIN(ctx context.Context) {
	q.title("Change a PIN: it is sealed where it is typed, and no backend sees it")
	certificate := []byte(nil)
	switch file := os.Getenv("PREPAID_PIN_CERTIFICATE"); {
	case q.emulator != nil:
		certificate = q.emulator.PINCertificate()
	case file == "":
		q.say("skipped: PREPAID_PIN_CERTIFICATE is not set")
		return
	default:
		var err error
		if certificate, err = os.ReadFile(file); err != nil {
			q.fail(err)
			return
		}
	}
	key, err := prepaid.NewPINKey(certificate, prepaid.PINKeyOptions{})
	if err != nil {
		q.fail(err)
		return
	}
	q.say("certificate fingerprint %s…, valid until %s", key.Fingerprint()[:16], key.NotAfter().Format(time.DateOnly))
	if q.emulator == nil {
		q.say("the one-time password goes to the cardholder: validate and execute are omitted here")
		return
	}
	if err := q.changePINOf(ctx, q.cards[0], key); err != nil {
		q.fail(err)
		return
	}
	q.say("PIN of %s changed", q.cards[0].key)
}

// changePINOf plays both parts: the backend that calls the service, and the device on which the PIN is typed.
func (q *quickstart) changePINOf(ctx context.Context, c card, key *prepaid.PINKey) error {
	const device, address = "device-1", "203.0.113.7"
	started, err := q.client.PIN.Initiate(ctx, prepaid.InitiatePINParams{
		AccountID: c.id, DeviceID: device, IPAddress: address, CommunicationMethod: "sms",
	})
	if err != nil {
		return err
	}
	var operation struct { // the reference does not show this shape; ask the operator
		OperationID string `json:"operation_id"`
	}
	if err := started.Decode(&operation); err != nil {
		return err
	}
	secret := prepaid.PINSecret{OTP: prepaid.NewSecret(q.emulator.OTP(operation.OperationID)), PIN: prepaid.NewSecret("4821")}
	q.say("initiated: operation %s; typed: %v", operation.OperationID, secret)
	for _, call := range []func(context.Context, prepaid.SealedPINParams) (*prepaid.PINResponse, error){
		q.client.PIN.Validate, q.client.PIN.Execute,
	} {
		envelope, err := key.Seal(secret) // a new key and vector for each call
		if err != nil {
			return err
		}
		params := prepaid.SealedPINParams{OperationID: operation.OperationID, DeviceID: device, IPAddress: address, Envelope: envelope}
		if _, err := call(ctx, params); err != nil {
			return err
		}
	}
	return nil
}

func (q *quickstart) hook(ctx context.Context) {
	q.title("Register a webhook and receive a transaction, verified and once")
	if q.receiver == nil {
		q.say("skipped: the service cannot reach this machine")
		return
	}
	created, err := q.client.Hooks.Create(ctx, prepaid.CreateHookParams{
		URI: q.receiver.URL + "/hook", Scope: []prepaid.CompanyID{q.company}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: hookKeyID, HMACKeySecret: q.hookKey,
	})
	if err != nil {
		q.fail(err)
		return
	}
	q.say("hook %s answered its ping", created.ID)
	result, err := q.purchase(ctx, q.cards[1], "12.40", groceries)
	if err != nil {
		q.fail(err)
		return
	}
	q.say("%s buys for 12.40: %s, balance %s", q.cards[1].key, approval(result.Success), q.balance(ctx, q.cards[1].id))
	select {
	case m := <-q.messages:
		q.say("received %s message %s of %s, signature valid", m.Type, m.ID, m.Timestamp.Format(time.DateTime))
	case <-time.After(10 * time.Second):
		q.fail(errors.New("no message arrived"))
	case <-ctx.Done():
	}
	if err := q.client.Hooks.Delete(ctx, created.ID); err != nil {
		q.fail(err)
	}
}

func (q *quickstart) lostResponse(ctx context.Context) {
	q.title("Lose the response to a transfer: the outcome is unknown, and resolved without paying twice")
	if q.emulator == nil {
		q.say("skipped: only the emulator inside this process can drop the connection")
		return
	}
	from, to := q.cards[0], q.cards[len(q.cards)-1]
	config := q.config
	config.Retry.MaxAttempts = 1 // by default the SDK sends the same bytes again by itself
	once, err := prepaid.NewClient(config)
	if err != nil {
		q.fail(err)
		return
	}
	defer func() { _ = once.Close() }()
	params := q.transferParams("lost", "15.00", to)
	before := q.balance(ctx, from.id)
	q.say("%s pays 15.00 to %s, and the connection drops after the service has booked it", from.key, to.key)
	q.emulator.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
	_, err = once.Accounts.Transfer(ctx, from.id, params)
	if ctx.Err() != nil {
		q.fail(err)
		return
	}
	q.say("first try: %v", err)
	if prepaid.OutcomeOf(err) != prepaid.OutcomeUnknown {
		q.fail(errors.New("the outcome should be unknown"))
		return
	}
	finding, err := q.client.Accounts.FindMovement(ctx, prepaid.FindMovementParams{
		AccountID: from.id, Amount: params.Amount, VisibleWithin: 5 * time.Second,
	}.Around(err))
	if err != nil {
		q.fail(err)
		return
	}
	q.say("search the history: seen")
	for _, t := range finding.Transactions {
		q.say("  transaction %s, %s %s", t.ID, t.TypeDescription, t.Amount)
	}
	result, err := q.client.Accounts.Transfer(ctx, from.id, params)
	if err != nil {
		q.fail(err)
		return
	}
	q.say("same params again: applied, transaction %s", result.TransactionID)
	q.say("balance of %s: %s before, %s now; of %s: %s now", from.key, before, q.balance(ctx, from.id), to.key, q.balance(ctx, to.id))
	q.say("%d movement with request ID %s", q.emulator.Movements(params.RequestID), params.RequestID)
}

// addUp compares each balance with the sum of its history.
func (q *quickstart) addUp(ctx context.Context) {
	q.title("Add up: every balance is the sum of its history")
	q.table("KEY\tITEMS\t      SUM\t  BALANCE\t", func(w io.Writer) {
		accounts := q.cards
		if q.emulator != nil { // a real float account has a long history
			accounts = append(slices.Clip(accounts), card{key: "float", id: q.float})
		}
		for _, c := range accounts {
			if ctx.Err() != nil {
				return
			}
			items, sum, err := q.sum(ctx, c.id)
			if err != nil {
				q.fail(err)
				continue
			}
			balance := q.balance(ctx, c.id)
			if ctx.Err() != nil {
				return
			}
			verdict := "adds up"
			if sum.String() != balance {
				verdict = "DOES NOT ADD UP"
				q.failures++
			}
			fmt.Fprintf(w, "    %s\t%5d\t%9s\t%9s\t%s\n", c.key, items, sum, balance, verdict)
		}
	})
}

func (q *quickstart) sum(ctx context.Context, id prepaid.AccountID) (items int, sum prepaid.Amount, err error) {
	for t, err := range q.client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) {
		if err != nil {
			return items, sum, err
		}
		items++
		if sum, err = sum.Add(t.Amount); err != nil {
			return items, sum, err
		}
	}
	return items, sum, nil
}

func (q *quickstart) farewell() {
	fmt.Fprintln(q.out)
	if q.failures > 0 {
		fmt.Fprintf(q.out, "%d lines or steps failed; see above.\n", q.failures)
	} else {
		fmt.Fprintln(q.out, "All done.")
	}
	if q.emulator != nil {
		fmt.Fprint(q.out, `
Next, the same program on the service's test environment:

  export PREPAID_BASE_URL=https://.../3.0/   PREPAID_ENVIRONMENT=test
  export PREPAID_VENDOR=<the word in the media type>
  export PREPAID_CLIENT_ID=<id>              PREPAID_CLIENT_SECRET_FILE=<a file that holds the secret>
  export PREPAID_COMPANY_ID=<program>        PREPAID_PROGRAM_CLIENT_ID=<client_id of its accounts>
  export PREPAID_FLOAT_ACCOUNT=<EAID that pays for the loads>
  go run ./examples/quickstart

-h lists the optional ones. The secret is never a flag.
`)
	}
}
