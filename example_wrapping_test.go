package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/cardprograms/prepaid"
)

// payer is the part of the client that the code below needs. It is declared where it is used.
type payer interface {
	Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error)
}

var _ payer = (*prepaid.AccountsService)(nil) // a change of the client's method fails here

// historyReader is an interface with an iterator.
type historyReader interface {
	Transactions(ctx context.Context, id prepaid.AccountID, params prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error]
}

var _ historyReader = (*prepaid.AccountsService)(nil)

// settle pays an invoice. It returns whether the invoice is paid, open, or must be sent again with the same params.
func settle(ctx context.Context, p payer, from, to prepaid.AccountID, invoice string, amount prepaid.Amount) (string, error) {
	_, err := p.Transfer(ctx, from, prepaid.TransferParams{
		RequestID: prepaid.RequestID("invoice-" + invoice), Amount: amount, DestinationAccountID: to,
		SourceReference: "invoice " + invoice, DestinationReference: "invoice " + invoice,
	})
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		return "paid", nil
	case prepaid.OutcomeRejected:
		return "open", err
	case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown:
	}
	return "again", err
}

// reporter is the part of the client that a nightly job needs.
type reporter interface {
	Run(ctx context.Context, template string, params prepaid.RunReportParams) (*prepaid.ReportReader, error)
}

var _ reporter = (*prepaid.ReportingService)(nil)

// fakeReporter returns a report without a service.
type fakeReporter struct{ content prepaid.Report }

func (f fakeReporter) Run(_ context.Context, template string, params prepaid.RunReportParams) (*prepaid.ReportReader, error) {
	run := prepaid.ReportRun{Template: template, ID: "r-1", RequestedAt: time.Now(), ColumnHeaders: params.IncludeColumnHeaders}
	return f.content.Reader(run), nil
}

// sum adds up the second column of a report.
func sum(ctx context.Context, r reporter) (total prepaid.Amount, err error) {
	report, err := r.Run(ctx, "settlement", prepaid.RunReportParams{})
	if err != nil {
		return total, err
	}
	defer report.Close()
	for row, err := range report.Rows() {
		if err != nil {
			return prepaid.Amount{}, err // a part of a report is not a total
		}
		amount, err := prepaid.ParseAmount(row[1])
		if err != nil {
			return prepaid.Amount{}, err
		}
		if total, err = total.Add(amount); err != nil {
			return prepaid.Amount{}, err
		}
	}
	return total, nil
}

// stub returns a fixed result or error.
type stub struct {
	result *prepaid.TransferResult
	err    error
}

func (s stub) Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return s.result, s.err
}

// A small interface declared by its user, with a stub for tests: each outcome is one struct.
func Example_consumerInterface() {
	sent := time.Now()
	lost := &prepaid.TransportError{Sent: true, Step: "headers", Err: errors.New("cut off")}
	for _, response := range []stub{
		{result: &prepaid.TransferResult{TransactionID: "77"}},
		{err: &prepaid.CallError{Outcome: prepaid.OutcomeRejected, Err: prepaid.ErrTransferFailed}},
		{err: &prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, Err: &prepaid.APIError{StatusCode: 429}}},
		{err: &prepaid.CallError{
			Outcome: prepaid.OutcomeUnknown, Err: lost,
			Attempts: 1, FirstSent: sent, LastSent: sent, NotBefore: sent.Add(40 * time.Second), // zero means "send again now"
		}},
	} {
		state, err := settle(context.Background(), response, "EA1", "EA2", "7", prepaid.Cents(2550))
		fmt.Println(state, errors.Is(err, prepaid.ErrTransferFailed), errors.Is(err, prepaid.ErrRateLimited), prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown)
	}
	// Output:
	// paid false false false
	// open true false false
	// again false true false
	// again false false true
}
