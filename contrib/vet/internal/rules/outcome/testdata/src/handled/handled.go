// Package handled has what must not be reported.
package handled

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/cardprograms/prepaid"
)

type outcome struct {
	id  prepaid.RequestID
	err error
}

type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }

type payments struct {
	client  *prepaid.Client
	results chan outcome
	errs    map[prepaid.RequestID]error
	last    error
}

func returned(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return client.Accounts.Transfer(ctx, "a", params)
}

func wrapped(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	if _, err := client.Accounts.Transfer(ctx, "a", params); err != nil {
		return fmt.Errorf("payment %s: %w", params.RequestID, err)
	}
	return nil
}

func structured(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	_, err := client.Accounts.Transfer(ctx, "a", params)
	if err != nil {
		return &failure{err}
	}
	return nil
}

func inStruct(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) outcome {
	_, err := client.Accounts.Transfer(ctx, "a", params)
	return outcome{params.RequestID, err}
}

func (p *payments) recorded(ctx context.Context, all []prepaid.TransferParams) error {
	var joined []error
	for _, params := range all {
		_, err := p.client.Accounts.Transfer(ctx, "a", params)
		p.results <- outcome{params.RequestID, err}

		_, err = p.client.Accounts.Transfer(ctx, "a", params)
		p.errs[params.RequestID] = err

		_, p.last = p.client.Accounts.Transfer(ctx, "a", params)

		if _, err := p.client.Accounts.Transfer(ctx, "a", params); err != nil {
			joined = append(joined, err)
		}
	}
	return errors.Join(joined...)
}

func asked(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) string {
	_, err := client.Accounts.Transfer(ctx, "a", params)
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		return "paid"
	case prepaid.OutcomeRejected:
		return "open"
	case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown:
	}
	return "again"
}

func typed(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) bool {
	_, err := client.Accounts.Transfer(ctx, "a", params)
	if call, ok := errors.AsType[*prepaid.CallError](err); ok {
		return call.Outcome == prepaid.OutcomeApplied
	}
	return err == nil
}

func asserted(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) bool {
	_, err := client.Accounts.Transfer(ctx, "a", params)
	call, ok := err.(*prepaid.CallError)
	return err == nil || ok && call.Outcome == prepaid.OutcomeApplied
}

// The log has the text, which has the outcome; the payment stays open in the caller's tables.
func logged(ctx context.Context, client *prepaid.Client, all []prepaid.TransferParams) {
	for _, params := range all {
		if _, err := client.Accounts.Transfer(ctx, "a", params); err != nil {
			slog.Error("transfer", "request_id", params.RequestID, "error", err)
			continue
		}
		log.Print("paid ", params.RequestID)
	}
}

func ended(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) {
	if _, err := client.Accounts.Transfer(ctx, "a", params); err != nil {
		log.Fatal(err)
	}
	if _, err := client.Accounts.Transfer(ctx, "a", params); err != nil {
		panic(err)
	}
	if _, err := client.Accounts.Transfer(ctx, "a", params); err != nil {
		panic("a bug")
	}
	if _, err := client.Accounts.Transfer(ctx, "a", params); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func helper(t *testing.T, client *prepaid.Client, params prepaid.TransferParams) {
	_, err := client.Accounts.Transfer(t.Context(), "a", params)
	if err != nil {
		t.Fatal(err)
	}
}

type refusal struct{ code int }

func post(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams, refused any) (status int, err error) {
	_, err = client.Accounts.Transfer(ctx, "a", params)
	return 404, err
}

// The status says what happened.
func status(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	status, err := post(ctx, client, params, nil)
	if err != nil {
		if status == 404 {
			return errors.New("no such account")
		}
		return err
	}
	return nil
}

// The body says it.
func decoded(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	var refused refusal
	if _, err := post(ctx, client, params, &refused); err != nil {
		if refused.code == 7 {
			return errors.New("refused")
		}
		return err
	}
	return nil
}

// The same payment again, with its request ID.
func retried(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	var err error
	for range 3 {
		if _, err = client.Accounts.Transfer(ctx, "a", params); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

func eachRetried(ctx context.Context, client *prepaid.Client, all []prepaid.TransferParams) error {
	for _, params := range all {
		var err error
		for attempt := 0; attempt < 3; attempt++ {
			if _, err = client.Accounts.Transfer(ctx, "a", params); err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func either(ctx context.Context, client *prepaid.Client, params prepaid.PaymentParams) (err error) {
	switch p := params.(type) {
	case prepaid.TransferParams:
		_, err = client.Accounts.Transfer(ctx, "a", p)
	case prepaid.DirectEntryOutParams:
		_, err = client.Accounts.DirectEntryOut(ctx, "a", p)
	}
	if err != nil {
		return fmt.Errorf("pay: %w", err)
	}
	return nil
}

func deferred(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (err error) {
	defer func() {
		if err != nil {
			slog.Error("pay", "error", err)
		}
	}()
	_, err = client.Accounts.Transfer(ctx, "a", params)
	return
}

func byResult(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (prepaid.TransactionID, error) {
	result, err := client.Accounts.Transfer(ctx, "a", params)
	if result != nil {
		return result.TransactionID, nil
	}
	return "", err
}

func goroutine(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	done := make(chan error, 1)
	go func() {
		_, err := client.Accounts.Transfer(ctx, "a", params)
		done <- err
	}()
	return <-done
}

// What it gets is stored by the function itself: its caller may go on.
func (p *payments) pay(ctx context.Context, params prepaid.TransferParams) error {
	_, err := p.client.Accounts.Transfer(ctx, "a", params)
	p.errs[params.RequestID] = err
	return err
}

func (p *payments) run(ctx context.Context, all []prepaid.TransferParams) {
	for _, params := range all {
		_ = p.pay(ctx, params)
	}
}

// A check of the params is no call.
type validator interface {
	Check(context.Context, prepaid.TransferParams) error
}

func checked(ctx context.Context, v validator, params prepaid.TransferParams) bool {
	_ = params.Validate()
	return v.Check(ctx, params) == nil
}

// The literal stores the error for the function around it, and returns nothing itself.
func stored(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (err error) {
	defer func() {
		if err != nil {
			_, err = client.Accounts.Transfer(ctx, "a", params)
		}
	}()
	pay := func() { _, err = client.Accounts.Transfer(ctx, "a", params) }
	pay()
	return err
}
