package programs

// The code of docs/for-assistants.md. TestDocumentCodeIsCompiledCode checks that the page has the same code.

import (
	"context"
	"errors"
	"time"

	"github.com/cardprograms/prepaid"
)

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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Minute)
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

func redeem(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (prepaid.TransactionID, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	began := time.Now()
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
	}.Between(began, time.Now()))
	if lookErr != nil {
		return "", errors.Join(err, lookErr) // for review: ErrNotSeen and ErrAmbiguous prove nothing
	}
	return finding.Transactions[0].ID, nil
}
