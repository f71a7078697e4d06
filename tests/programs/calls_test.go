package programs

// The code of docs/for-assistants.md. TestDocumentCodeIsCompiledCode checks that the page has the same code.

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/webhook"
)

func newClient(ctx context.Context) (*prepaid.Client, error) {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if _, err := client.Check(ctx); err != nil {
		return nil, err
	}
	return client, nil // close it at the end of main
}

func issue(ctx context.Context, client *prepaid.Client, key string, holder *prepaid.Cardholder, tried bool) (*prepaid.Account, error) {
	issued, err := client.Accounts.Issue(ctx, prepaid.IssueParams{
		ProgramClientID: "acme", // from the operator
		Account:         prepaid.CreateAccountParams{CompanyID: 42, ClientAccountKey: key, Cardholder: holder},
		Again:           tried, // true if an earlier run may have begun; store it first
	})
	if err == nil {
		return issued.Account, nil // status pre_active: activate it with SetStatus
	}
	if prepaid.OutcomeOf(err) != prepaid.OutcomeApplied {
		return nil, err // run it again later, with tried
	}
	return client.Accounts.FindCreated(ctx, prepaid.FindCreatedParams{ // the card exists: never issue it again
		ProgramClientID: "acme", CompanyID: 42, ClientAccountKey: key, VisibleWithin: 10 * time.Minute,
	})
}

func block(ctx context.Context, client *prepaid.Client, id prepaid.AccountID) error {
	err := client.Accounts.SetStatus(ctx, id, prepaid.SetStatusParams{Status: prepaid.AccountStatusInactive})
	return err // unknown: Accounts.Summary says which status it has
}

type payment struct { // a row of your database
	From   prepaid.AccountID
	Params prepaid.TransferParams // stored as JSON; with LastSent, the outcome is unknown
	State  string
}

func newPayment(order string, day prepaid.Date, from, to prepaid.AccountID, amount prepaid.Amount) (payment, error) {
	params := prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(day, "order", order),
		Amount:    amount, DestinationAccountID: to,
		Type:            prepaid.TransferTypeLoad, // from a float; TransferTypeCardToCard otherwise
		SourceReference: "order " + order, DestinationReference: "order " + order,
	}
	return payment{From: from, Params: params, State: "new"}, params.Validate()
}

func pay(ctx context.Context, client *prepaid.Client, p *payment, lockedAt time.Time, save func(*payment) error) error {
	if p.State == "sending" { // a process died in the call: it could send until lockedAt
		p.Params.LastSent = lockedAt
	}
	p.State = "sending"
	if err := save(p); err != nil {
		return err // nothing was sent
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	_, err := client.Accounts.Transfer(ctx, p.From, p.Params)
	p.Params.LastSent = time.Time{}
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		p.State = "paid" // even if err is not nil
	case prepaid.OutcomeRejected:
		p.State = "refused" // this call moved nothing: fix the cause and pay again, or withdraw it
	case prepaid.OutcomeNotProcessed:
		p.State = "new" // nothing moved: a worker pays again later
	case prepaid.OutcomeUnknown:
		p.State = "unknown" // it may have moved: a worker pays again later
		if call, ok := errors.AsType[*prepaid.CallError](err); ok {
			p.Params.LastSent = call.LastSent
		}
	}
	if errors.Is(err, prepaid.ErrRequestIDReused) || errors.Is(err, prepaid.ErrRequestIDExpired) {
		p.State = "review" // never under a new ID
	}
	return errors.Join(err, save(p))
}

func payAll(ctx context.Context, client *prepaid.Client, path string, key prepaid.Secret, payments iter.Seq[journal.Payment]) error {
	j, err := journalfile.Open(path, journalfile.Options{DigestKey: key})
	if err != nil {
		return err
	}
	defer j.Close()
	for _, failed := range j.PayAll(ctx, client.Accounts, 16, payments) { // after a crash, the whole list again
		err = errors.Join(err, failed)
	}
	return err
}

func redeem(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (prepaid.TransactionID, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	result, err := client.Funding.Redeem(ctx, params)
	switch outcome := prepaid.OutcomeOf(err); {
	case err == nil && result.Approved():
		return result.TransactionID, nil
	case err == nil:
		return "", errors.New("declined") // nothing moved
	case outcome == prepaid.OutcomeRejected, outcome == prepaid.OutcomeNotProcessed:
		return "", err // nothing moved
	}
	finding, lookErr := client.Accounts.FindMovement(ctx, prepaid.FindMovementParams{ // never send it again
		AccountID: params.AccountID, Amount: params.Amount, TerminalID: params.TerminalID,
	}.Around(err))
	if lookErr != nil {
		return "", errors.Join(err, lookErr) // for review: ErrNotSeen and ErrAmbiguous prove nothing
	}
	return finding.Transactions[0].ID, nil
}

func total(ctx context.Context, client *prepaid.Client, id prepaid.AccountID, from, before time.Time) (prepaid.Amount, error) {
	var sum prepaid.Amount
	for transaction, err := range client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{From: from, Before: before}) {
		if err != nil {
			return prepaid.Amount{}, err
		}
		if sum, err = sum.Add(transaction.Amount); err != nil {
			return prepaid.Amount{}, err
		}
	}
	return sum, nil
}

func download(ctx context.Context, client *prepaid.Client, template string, row func(fields []string) error) error {
	report, err := client.Reporting.Run(ctx, template, prepaid.RunReportParams{WaitForPrevious: true})
	if err != nil {
		return err
	}
	defer report.Close()
	for fields, err := range report.Rows() {
		if err != nil {
			return err // incomplete: undo what its rows did
		}
		if err := row(fields); err != nil {
			return err
		}
	}
	return nil
}

func seal(certificate []byte, otp, pin prepaid.Secret) (*prepaid.PINEnvelope, error) {
	key, err := prepaid.NewPINKey(certificate, prepaid.PINKeyOptions{}) // on the device
	if err != nil {
		return nil, err
	}
	return key.Seal(prepaid.PINSecret{OTP: otp, PIN: pin})
}

func changePIN(ctx context.Context, client *prepaid.Client, operation, device, address string, sealed *prepaid.PINEnvelope) error {
	_, err := client.PIN.Execute(ctx, prepaid.SealedPINParams{ // in the backend
		OperationID: operation, DeviceID: device, IPAddress: address, Envelope: sealed,
	})
	return err // unknown: the cardholder tries the card
}

type booking func(ctx context.Context, once string, m *prepaid.Message) error

func receiver(key prepaid.Secret, book booking, failed func(context.Context, int, error)) (*http.Server, error) {
	handler, err := webhook.NewHandler(webhook.Config{
		Verifier: webhook.HMAC{ // ask the operator for the form of the signature
			Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded,
			Keys: webhook.StaticKeys{"2026-11": key},
		},
		OnTransaction: func(ctx context.Context, m *prepaid.Message) error {
			return book(ctx, webhook.ClaimID(m), m) // insert the ID as a unique key, in the same transaction
		},
		OnFailure: failed, // log it: func(ctx context.Context, status int, err error)
	})
	if err != nil {
		return nil, err
	}
	return &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}, nil
}
