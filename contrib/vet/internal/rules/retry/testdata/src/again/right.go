package again

import (
	"context"
	"errors"
	"net/http"
	"time"

	avast "github.com/avast/retry-go/v4"
	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/hashicorp/go-retryablehttp"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/transport"

	"again/pay"

	"example.com/attempt"
)

// A read changes nothing: the client repeats it anyway.
func read(ctx context.Context, client *prepaid.Client) (*prepaid.Account, error) {
	return backoff.Retry(ctx, func() (*prepaid.Account, error) { return client.Accounts.Get(ctx, "a") })
}

// The outcome decides whether it is sent again.
func byOutcome(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return backoff.Retry(ctx, func() (*prepaid.TransferResult, error) {
		result, err := client.Accounts.Transfer(ctx, "a", params)
		if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
			return nil, backoff.Permanent(err)
		}
		return result, err
	})
}

func byOption(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) error {
	return avast.Do(func() error {
		_, err := client.Funding.Redeem(ctx, params)
		return err
	}, avast.RetryIf(func(err error) bool { return prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed }))
}

func byName(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) error {
	redeem := func() error {
		_, err := client.Funding.Redeem(ctx, params)
		return err
	}
	if err := avast.Do(redeem, avast.RetryIf(transport.NotSent)); err != nil {
		return err
	}
	return avast.Do(redeem, avast.RetryIf(unprocessed))
}

func unprocessed(err error) bool { return prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed }

func byField(ctx context.Context, s *pay.Service, params prepaid.TransferParams) error {
	return attempt.Times(3, func() error {
		err := s.Pay(ctx, "a", params)
		if call, ok := errors.AsType[*prepaid.CallError](err); ok && call.Outcome != prepaid.OutcomeNotProcessed {
			return nil
		}
		return err
	})
}

func breaker(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	breaker := circuitbreaker.NewWithDefaults[*prepaid.TransferResult]()
	return failsafe.With(failsafe.Policy[*prepaid.TransferResult](breaker)).Get(func() (*prepaid.TransferResult, error) {
		return client.Accounts.Transfer(ctx, "a", params)
	})
}

func intervals(ctx context.Context, s *pay.Service, next func() prepaid.TransferParams) {
	wait.UntilWithContext(ctx, func(ctx context.Context) { _ = s.Pay(ctx, "a", next()) }, time.Second)
	_ = attempt.Every(ctx, time.Second, func() error { return s.Pay(ctx, "a", next()) })
	_ = attempt.Workers(8, func() error { return s.Pay(ctx, "a", next()) })
}

func elsewhere(config prepaid.Config, store func() error) (*http.Client, *prepaid.Client, error) {
	config.Transport = http.DefaultTransport
	if err := backoffStore(store); err != nil {
		return nil, nil, err
	}
	client, err := prepaid.NewClient(config)
	return retryablehttp.NewClient().StandardClient(), client, err // for another service
}

func backoffStore(store func() error) error {
	return avast.Do(store)
}
