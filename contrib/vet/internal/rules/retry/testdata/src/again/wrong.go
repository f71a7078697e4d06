package again

import (
	"context"
	"net/http"
	"time"

	avast "github.com/avast/retry-go/v4"
	avast5 "github.com/avast/retry-go/v5"
	backoff4 "github.com/cenkalti/backoff/v4"
	"github.com/cenkalti/backoff/v5"
	"github.com/eapache/go-resiliency/retrier"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	flow "github.com/flowchartsman/retry"
	"github.com/hashicorp/go-retryablehttp"
	juju "github.com/juju/retry"
	"github.com/matryer/try"
	"github.com/sethvargo/go-retry"
	"k8s.io/apimachinery/pkg/util/wait"
	kube "k8s.io/client-go/util/retry"

	"github.com/cardprograms/prepaid"

	"again/pay"

	"example.com/attempt"
)

func plain(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	return backoff4.Retry(func() error { // want `Accounts.Transfer is run again by backoff.Retry, which does not know outcomes: it repeats what was refused.*#retry$`
		_, err := client.Accounts.Transfer(ctx, "a", params)
		return err
	}, backoff4.WithMaxRetries(backoff4.NewExponentialBackOff(), 5))
}

func (s *service) method(ctx context.Context, params prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) {
	return backoff.Retry(ctx, func() (*prepaid.FundingResult, error) { // want `Funding.Redeem is run again by backoff.Retry, .* after a lost response it does the same again`
		return s.client.Funding.Redeem(ctx, params)
	}, backoff.WithMaxTries(5))
}

type service struct {
	client *prepaid.Client
	pay    *pay.Service
	payer  payer
}

type payer interface {
	Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error)
}

func (s *service) handler(w http.ResponseWriter, r *http.Request) {
	err := avast.Do(func() error { // want `Accounts.Issue is run again by retry.Do`
		_, err := s.client.Accounts.Issue(r.Context(), prepaid.IssueParams{})
		return err
	}, avast.Attempts(3))
	if err != nil {
		http.Error(w, "try later", http.StatusServiceUnavailable)
	}
}

func (s *service) face(ctx context.Context, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	operation := func() (*prepaid.TransferResult, error) { return s.payer.Transfer(ctx, "a", params) }
	return avast.DoWithData(operation) // want `payer.Transfer is run again by retry.DoWithData`
}

func (s *service) named(ctx context.Context, params prepaid.TransferParams) error {
	once := s.once(ctx, params)
	return avast5.New(avast5.Attempts(3)).Do(once) // want `Service.Pay is run again by retry.Do`
}

func (s *service) once(ctx context.Context, params prepaid.TransferParams) func() error {
	return func() error { return s.pay.Pay(ctx, "a", params) }
}

func (s *service) goroutine(ctx context.Context, payments <-chan prepaid.TransferParams) {
	go func() {
		for p := range payments {
			_ = retry.Do(ctx, retry.NewFibonacci(time.Second), func(ctx context.Context) error { // want `Service.Pay is run again by retry.Do`
				return retry.RetryableError(s.pay.Pay(ctx, "a", p))
			})
		}
	}()
}

func retried[T any](ctx context.Context, call func(context.Context) (T, error)) (result T, err error) {
	err = retrier.New().RunCtx(ctx, func(ctx context.Context) error {
		result, err = call(ctx)
		return err
	})
	return result, err
}

func generic(ctx context.Context, client *prepaid.Client, params prepaid.RefundFundingParams) (*prepaid.FundingResult, error) {
	return retried(ctx, func(ctx context.Context) (*prepaid.FundingResult, error) { // want `Funding.Refund is run again by again.retried`
		return client.Funding.Refund(ctx, params)
	})
}

func policies(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	policy, breaker := retrypolicy.NewWithDefaults[*prepaid.TransferResult](), circuitbreaker.NewWithDefaults[*prepaid.TransferResult]()
	return failsafe.With(policy, failsafe.Policy[*prepaid.TransferResult](breaker)).WithContext(ctx).Get(func() (*prepaid.TransferResult, error) { // want `Accounts.Transfer is run again by failsafe.Get`
		return client.Accounts.Transfer(ctx, "a", params)
	})
}

func helpers(ctx context.Context, client *prepaid.Client, s *pay.Service, params prepaid.TransferParams) {
	_ = attempt.Times(3, func() error { // want `Accounts.DirectEntryOut is run again by attempt.Times`
		_, err := client.Accounts.DirectEntryOut(ctx, "a", prepaid.DirectEntryOutParams{})
		return err
	})
	_ = attempt.Forever(ctx, func(ctx context.Context) error { return s.Pay(ctx, "a", params) }) // want `Service.Pay is run again by attempt.Forever`
	_ = attempt.Backoff(func() error { return s.Pay(ctx, "a", params) })                         // want `Service.Pay is run again by attempt.Backoff`
	_ = attempt.Policy{}.Do(func() error { return s.Pay(ctx, "a", params) })                     // want `Service.Pay is run again by attempt.Do`
}

func until(ctx context.Context, s *pay.Service, params prepaid.TransferParams) {
	attempt.Until(func() error { return s.Pay(ctx, "a", params) })                                                      // want `Service.Pay is run again by attempt.Until`
	attempt.Generic(func(p prepaid.TransferParams) error { return s.Pay(ctx, "a", p) }, params)                         // want `Service.Pay is run again by attempt.Generic`
	attempt.Generic[prepaid.TransferParams](func(p prepaid.TransferParams) error { return s.Pay(ctx, "a", p) }, params) // want `Service.Pay is run again by attempt.Generic`
}

func kubernetes(ctx context.Context, s *pay.Service, params prepaid.TransferParams) {
	_ = kube.OnError(kube.DefaultRetry, func(error) bool { return true }, func() error { // want `Service.Pay is run again by retry.OnError`
		return s.Pay(ctx, "a", params)
	})
	_ = wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(ctx context.Context) (bool, error) { // want `Service.Pay is run again by wait.PollUntilContextTimeout`
		return s.Pay(ctx, "a", params) == nil, nil
	})
}

func others(ctx context.Context, s *pay.Service, params prepaid.TransferParams) {
	_ = try.Do(func(attempt int) (bool, error) { // want `Service.Pay is run again by try.Do`
		return attempt < 5, s.Pay(ctx, "a", params)
	})
	_ = flow.NewRetrier(5, time.Second, time.Minute).RunContext(ctx, func(ctx context.Context) error { // want `Service.Pay is run again by retry.RunContext`
		return s.Pay(ctx, "a", params)
	})
	_ = juju.Call(juju.CallArgs{Attempts: 5, Func: func() error { return s.Pay(ctx, "a", params) }}) // want `Service.Pay is run again by retry.Call`
}

func (s *service) abandoned(ctx context.Context, params prepaid.TransferParams) error {
	return avast.Do(func() error { // want `Service.Pay is run again by retry.Do`
		done := make(chan error, 1)
		go func() { done <- s.pay.Pay(ctx, "a", params) }()
		select {
		case err := <-done:
			return err
		case <-time.After(time.Second):
			return context.DeadlineExceeded
		}
	})
}

func transports(config prepaid.Config) (*prepaid.Client, error) {
	repeating := retryablehttp.NewClient()
	config.Transport = repeating.StandardClient().Transport           // want `the transport of retryablehttp repeats requests below the client`
	config.Transport = &retryablehttp.RoundTripper{Client: repeating} // want `the transport of retryablehttp`
	return prepaid.NewClient(config)
}
