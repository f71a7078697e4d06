package again

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cardprograms/prepaid"
)

// A function that makes the call again itself.
func (s *service) loop(ctx context.Context, params prepaid.RedeemFundingParams) (result *prepaid.FundingResult, err error) {
	for range 3 {
		if result, err = s.client.Funding.Redeem(ctx, params); err == nil { // want `Funding.Redeem is made again after an error: after a lost response it does the same again, a second time; look for what happened first`
			break
		}
	}
	return result, err
}

func (s *service) secondCall(ctx context.Context, params prepaid.RefundFundingParams) error {
	result, err := s.client.Funding.Refund(ctx, params) // want `Funding.Refund is made again after an error`
	if err != nil {
		result, err = s.client.Funding.Refund(ctx, params)
	}
	if err == nil && !result.Approved() {
		return errors.New("declined")
	}
	return err
}

func (s *service) recursion(ctx context.Context, params prepaid.RedeemFundingParams, left int) (*prepaid.FundingResult, error) {
	result, err := s.client.Funding.Redeem(ctx, params) // want `Funding.Redeem is made again after an error`
	if err != nil && left > 0 {
		return s.recursion(ctx, params, left-1)
	}
	return result, err
}

// Only what was not processed is made again.
func (s *service) unprocessed(ctx context.Context, params prepaid.RedeemFundingParams) (result *prepaid.FundingResult, err error) {
	for range 3 {
		result, err = s.client.Funding.Redeem(ctx, params)
		if prepaid.OutcomeOf(err) != prepaid.OutcomeNotProcessed {
			break
		}
	}
	return result, err
}

// A decline is known.
func (s *service) declined(ctx context.Context, params prepaid.RedeemFundingParams) error {
	for {
		result, err := s.client.Funding.Redeem(ctx, params)
		if err != nil || result.Approved() {
			return err
		}
		time.Sleep(time.Hour)
	}
}

// Each hour has its load.
func (s *service) hourly(ctx context.Context, params prepaid.RedeemFundingParams) {
	for range time.Tick(time.Hour) {
		if _, err := s.client.Funding.Redeem(ctx, params); err != nil {
			slog.Error("redeem", "err", err)
		}
	}
}

type queue interface {
	Requeue(ctx context.Context, load prepaid.RedeemFundingParams) error
	Len(ctx context.Context) (int, error)
}

func (s *service) requeued(ctx context.Context, q queue, loads chan prepaid.RedeemFundingParams) {
	for load := range loads {
		if _, err := s.client.Funding.Redeem(ctx, load); err != nil { // want `Funding.Redeem goes back to its queue after an error`
			slog.Error("redeem", "err", err, "next", q.Requeue(ctx, load))
		}
	}
}

func (s *service) sent(ctx context.Context, loads, failed chan prepaid.RedeemFundingParams) {
	for load := range loads {
		if _, err := s.client.Funding.Redeem(ctx, load); err != nil { // want `goes back to its queue`
			slog.Error("redeem", "err", err)
			failed <- load
		}
	}
}

func (s *service) counted(ctx context.Context, q queue, loads chan prepaid.RedeemFundingParams, failed chan error) {
	for load := range loads {
		if _, err := s.client.Funding.Redeem(ctx, load); err != nil {
			_, _ = q.Len(ctx)
			failed <- err
		}
	}
}

// With Again it searches before it creates.
func (s *service) searched(ctx context.Context, params prepaid.IssueParams) (*prepaid.Issued, error) {
	issued, err := s.client.Accounts.Issue(ctx, params)
	if err != nil {
		params.Again = true
		issued, err = s.client.Accounts.Issue(ctx, params)
	}
	return issued, err
}

func (s *service) created(ctx context.Context, params prepaid.IssueParams) (issued *prepaid.Issued, err error) {
	for range 2 {
		if issued, err = s.client.Accounts.Issue(ctx, params); err == nil { // want `Accounts.Issue is made again after an error`
			break
		}
	}
	return issued, err
}

// Transports that repeat requests themselves.
type repeating struct{ base http.RoundTripper }

func (t *repeating) RoundTrip(r *http.Request) (*http.Response, error) {
	for range 2 {
		if response, err := t.base.RoundTrip(r); err == nil {
			return response, nil
		}
	}
	return t.base.RoundTrip(r)
}

// failover sends to another host.
type failover struct{ first, second http.Client }

func (t failover) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.first.Do(r)
	if err != nil {
		return t.second.Do(r)
	}
	return response, nil
}

// reading repeats what changes nothing.
type reading struct{ base http.RoundTripper }

var safe = map[string]bool{http.MethodGet: true}

func (t *reading) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(r)
	if method := []byte(r.Method); err != nil && safe[string(method)] {
		return t.base.RoundTrip(r)
	}
	return response, err
}

// named sends once.
type named struct{ base http.RoundTripper }

func (t named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	slog.Info("request", "method", []any{r.Method})
	return t.send(r)
}

func (t named) send(r *http.Request) (*http.Response, error) { return t.base.RoundTrip(r) }

// around repeats in a function of its own.
type around struct{ base http.RoundTripper }

func (t around) RoundTrip(r *http.Request) (*http.Response, error) { return t.send(r) }

func (t around) send(r *http.Request) (*http.Response, error) {
	for {
		if response, err := t.base.RoundTrip(r); err == nil {
			return response, nil
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func again(r *http.Request) (*http.Response, error) {
	if response, err := http.DefaultTransport.RoundTrip(r); err == nil {
		return response, nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

func newRepeating(base http.RoundTripper) http.RoundTripper { return &repeating{base} }

func logging(base http.RoundTripper) http.RoundTripper { return named{base} }

func ownTransports(config prepaid.Config, base http.RoundTripper, create func() http.RoundTripper) []prepaid.Config {
	config.Transport = &repeating{base} // want `the transport repeating repeats requests below the client`
	config.Transport = failover{}       // want `the transport failover`
	config.Transport = &reading{base}
	config.Transport = named{base}
	config.Transport = around{base}                                                 // want `the transport around`
	config.Transport = roundTripper(again)                                          // want `the transport the function`
	config.Transport = roundTripper(func(r *http.Request) (*http.Response, error) { // want `the transport the function`
		if response, err := base.RoundTrip(r); err == nil {
			return response, nil
		}
		return base.RoundTrip(r)
	})
	config.Transport = newRepeating(base) // want `the transport repeating`
	config.Transport = logging(base)
	config.Transport = create()
	config.Transport = logging(retryablehttp.NewClient().StandardClient().Transport) // want `the transport of retryablehttp`
	return []prepaid.Config{config}
}
