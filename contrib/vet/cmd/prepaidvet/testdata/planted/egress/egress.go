// Package egress sets the client up.
package egress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/transport"
)

// Mistake: fail over to another.

type failover struct{ first, second http.RoundTripper }

func (t *failover) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	response, err := t.first.RoundTrip(r)
	if err != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		return t.second.RoundTrip(r)
	}
	return response, nil
}

func clientFailover(c prepaid.Config) (*prepaid.Client, error) {
	c.Transport = &failover{transport.New(), transport.New()} // want: retry
	return prepaid.NewClient(c)
}

// The right form.

type choose struct{ first, second http.RoundTripper }

func (t *choose) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return t.first.RoundTrip(r)
	}
	return t.second.RoundTrip(r)
}

func clientChoose(c prepaid.Config) (*prepaid.Client, error) {
	c.Transport = &choose{transport.New(), transport.New()}
	return prepaid.NewClient(c)
}

// Mistake: round tripper func.

type rt func(*http.Request) (*http.Response, error)

func (f rt) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func clientFunc(c prepaid.Config) (*prepaid.Client, error) {
	base := transport.New()
	c.Transport = rt(func(r *http.Request) (*http.Response, error) { // want: retry
		res, err := base.RoundTrip(r)
		if err != nil || res.StatusCode == http.StatusBadGateway {
			if r.GetBody != nil {
				r.Body, _ = r.GetBody()
			}
			return base.RoundTrip(r)
		}
		return res, err
	})
	return prepaid.NewClient(c)
}

// The right form.

func clientFuncRight(c prepaid.Config) (*prepaid.Client, error) {
	base := transport.New()
	c.Transport = rt(func(r *http.Request) (*http.Response, error) {
		res, err := base.RoundTrip(r)
		if err != nil {
			return nil, fmt.Errorf("egress: %w", err)
		}
		return res, nil
	})
	return prepaid.NewClient(c)
}

// Mistake: closure variable called twice.

func redeemClosure(ctx context.Context, c *prepaid.Client, p prepaid.RedeemFundingParams) (bool, error) {
	call := func() (*prepaid.FundingResult, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return c.Funding.Redeem(ctx, p)
	}
	res, err := call() // want: retry
	if errors.Is(err, context.DeadlineExceeded) {
		res, err = call()
	}
	if err != nil {
		return false, err
	}
	return res.Approved(), nil
}

// The right form.

func redeemClosureRight(ctx context.Context, c *prepaid.Client, p prepaid.RedeemFundingParams) (bool, error) {
	call := func() (*prepaid.FundingResult, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return c.Funding.Redeem(ctx, p)
	}
	res, err := call()
	if prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed {
		res, err = call()
	}
	if err != nil {
		return false, err
	}
	return res.Approved(), nil
}
