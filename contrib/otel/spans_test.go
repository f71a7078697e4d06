package prepaidotel_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidotel "github.com/cardprograms/prepaid/contrib/otel"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

func TestSuccess(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.account("5.00")
	_, err := s.client.Accounts.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []string{
		"Accounts.Get internal prepaid.attempts=1 prepaid.operation=Accounts.Get prepaid.outcome=applied",
		"  GET /accounts/{id} client http.request.method=GET http.response.status_code=200 prepaid.operation=Accounts.Get url.template=/accounts/{id}",
		"Token internal prepaid.attempts=1 prepaid.operation=Token prepaid.outcome=applied",
		"  POST /token client http.request.method=POST http.response.status_code=200 prepaid.operation=Token url.template=/token",
	}, s.tree())
	require.Equal(t, []string{
		"http.client.request.duration{http.request.method=GET http.response.status_code=200 url.template=/accounts/{id}} 1",
		"http.client.request.duration{http.request.method=POST http.response.status_code=200 url.template=/token} 1",
		"prepaid.attempt.count{prepaid.operation=Accounts.Get prepaid.resend=false} 1",
		"prepaid.attempt.count{prepaid.operation=Token prepaid.resend=false} 1",
		"prepaid.call.count{prepaid.operation=Accounts.Get prepaid.outcome=applied} 1",
		"prepaid.call.count{prepaid.operation=Token prepaid.outcome=applied} 1",
		"prepaid.call.duration{prepaid.operation=Accounts.Get prepaid.outcome=applied} 1",
		"prepaid.call.duration{prepaid.operation=Token prepaid.outcome=applied} 1",
		"prepaid.token.renewal.count{} 1",
		"prepaid.token.renewal.duration{} 1",
	}, s.counts())
}

func TestRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, retry)
}

func retry(t *testing.T) {
	s := newStage(t, prepaidtest.Options{InMemory: true})
	config := s.Config()
	config.AttemptTimeout = 5 * time.Second
	s.open(config, prepaidotel.Options{})
	from, to := s.account("5.00"), s.account("")
	s.token()
	s.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop(), prepaidtest.Respond(503, ""))
	require.NoError(t, s.transfer(t.Context(), from, to))
	const request = "http.request.method=POST"
	const rest = "prepaid.operation=Accounts.Transfer"
	const template = "url.template=/accounts/{id}/transfer"
	const read = "  Accounts.Summary internal prepaid.attempts=1 prepaid.operation=Accounts.Summary prepaid.outcome=applied" // twice before a repeat
	const readAttempt = "    GET /accounts/{id}/status client http.request.method=GET http.response.status_code=200 prepaid.operation=Accounts.Summary url.template=/accounts/{id}/status"
	require.Equal(t, []string{
		"Accounts.Transfer internal prepaid.attempts=3 prepaid.operation=Accounts.Transfer prepaid.outcome=applied",
		"  POST /accounts/{id}/transfer client error.type=transport_headers " + request + " " + rest + " prepaid.retry.wait " + template + " ERROR",
		read, readAttempt, read, readAttempt,
		"  POST /accounts/{id}/transfer client error.type=503 " + request + " http.request.resend_count=1 http.response.status_code=503 " + rest + " prepaid.retry.wait " + template + " ERROR",
		read, readAttempt, read, readAttempt,
		"  POST /accounts/{id}/transfer client " + request + " http.request.resend_count=2 http.response.status_code=200 " + rest + " " + template,
	}, s.tree())
	require.Subset(t, s.counts(), []string{
		"http.client.request.duration{error.type=transport_headers http.request.method=POST url.template=/accounts/{id}/transfer} 1",
		"http.client.request.duration{error.type=503 http.request.method=POST http.response.status_code=503 url.template=/accounts/{id}/transfer} 1",
		"http.client.request.duration{http.request.method=POST http.response.status_code=200 url.template=/accounts/{id}/transfer} 1",
		"prepaid.attempt.count{prepaid.operation=Accounts.Transfer prepaid.resend=false} 1",
		"prepaid.attempt.count{prepaid.operation=Accounts.Transfer prepaid.resend=true} 2",
		"prepaid.call.count{prepaid.operation=Accounts.Transfer prepaid.outcome=applied} 1",
		"prepaid.retry.wait{prepaid.operation=Accounts.Transfer prepaid.wait.reason=back_off} 2",
	})
}

func TestThrottled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, throttled)
}

func throttled(t *testing.T) {
	s := newStage(t, prepaidtest.Options{InMemory: true})
	id := s.account("5.00")
	config := s.Config()
	config.Limiter = limiterFunc(func(context.Context) error {
		time.Sleep(2 * time.Millisecond)
		return nil
	})
	s.open(config, prepaidotel.Options{})
	s.token()
	s.Inject("GET /accounts/{id}", prepaidtest.TooManyRequests(0))
	_, err := s.client.Accounts.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []string{
		"Accounts.Get internal prepaid.attempts=2 prepaid.operation=Accounts.Get prepaid.outcome=applied [prepaid.limiter.wait prepaid.limiter.wait] [prepaid.limiter.wait prepaid.limiter.wait]",
		"  GET /accounts/{id} client error.type=429 http.request.method=GET http.response.status_code=429 prepaid.operation=Accounts.Get prepaid.retry.wait url.template=/accounts/{id} ERROR",
		"  GET /accounts/{id} client http.request.method=GET http.request.resend_count=1 http.response.status_code=200 prepaid.operation=Accounts.Get url.template=/accounts/{id}",
	}, s.tree())
	require.Subset(t, s.counts(), []string{
		"prepaid.attempt.throttled{prepaid.operation=Accounts.Get} 1",
		"prepaid.limiter.wait{prepaid.operation=Accounts.Get} 2",
		"prepaid.limiter.wait{prepaid.operation=Token} 1",
		"prepaid.retry.wait{prepaid.operation=Accounts.Get prepaid.wait.reason=throttled} 1",
	})
}

func TestRenewalAfter401(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.account("5.00")
	s.token()
	s.RevokeTokens()
	_, err := s.client.Accounts.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []string{
		"Accounts.Get internal prepaid.attempts=2 prepaid.operation=Accounts.Get prepaid.outcome=applied",
		"  GET /accounts/{id} client error.type=401 http.request.method=GET http.response.status_code=401 prepaid.operation=Accounts.Get url.template=/accounts/{id} ERROR",
		"  GET /accounts/{id} client http.request.method=GET http.request.resend_count=1 http.response.status_code=200 prepaid.operation=Accounts.Get url.template=/accounts/{id}",
		"Token internal prepaid.attempts=1 prepaid.operation=Token prepaid.outcome=applied",
		"  POST /token client http.request.method=POST http.response.status_code=200 prepaid.operation=Token url.template=/token",
	}, s.tree())
	counts := s.counts()
	require.Contains(t, counts, "prepaid.token.renewal.count{} 2")
	for _, line := range counts {
		require.NotContains(t, line, "prepaid.retry.wait", "a renewal has no pause")
	}
}

func TestFailedRenewal(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	config := s.Config()
	config.ClientSecret = prepaid.NewSecret("another")
	s.open(config, prepaidotel.Options{})
	_, err := s.client.Accounts.Get(t.Context(), s.account("5.00"))
	require.ErrorIs(t, err, prepaid.ErrUnauthorized)
	require.Equal(t, []string{
		"Accounts.Get internal error.type=token prepaid.attempts=0 prepaid.operation=Accounts.Get prepaid.outcome=not_processed ERROR",
		"Token internal error.type=401 prepaid.attempts=1 prepaid.operation=Token prepaid.outcome=rejected ERROR",
		"  POST /token client error.type=401 http.request.method=POST http.response.status_code=401 prepaid.operation=Token url.template=/token ERROR",
	}, s.tree())
	require.Subset(t, s.counts(), []string{
		"prepaid.call.count{error.type=token prepaid.operation=Accounts.Get prepaid.outcome=not_processed} 1",
		"prepaid.token.renewal.count{} 1",
		"prepaid.token.renewal.failed{error.type=401} 1",
	})
}

func TestUnknownTransfer(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from, to := s.account("5.00"), s.account("")
	s.token()
	s.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(500, "server_error"))
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(s.transfer(t.Context(), from, to)))
	require.Equal(t, []string{
		"Accounts.Transfer internal error.type=500 prepaid.attempts=1 prepaid.operation=Accounts.Transfer prepaid.outcome=unknown ERROR",
		"  POST /accounts/{id}/transfer client error.type=500 http.request.method=POST http.response.status_code=500 prepaid.operation=Accounts.Transfer url.template=/accounts/{id}/transfer ERROR",
	}, s.tree())
	require.Subset(t, s.counts(), []string{
		"prepaid.call.count{error.type=500 prepaid.operation=Accounts.Transfer prepaid.outcome=unknown} 1",
		"prepaid.call.unknown{prepaid.operation=Accounts.Transfer} 1",
	})
}

func TestNothingSent(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	_, err := s.client.Accounts.Get(t.Context(), "..")
	require.Error(t, err)
	require.Equal(t, []string{
		"Accounts.Get internal error.type=validation prepaid.attempts=0 prepaid.operation=Accounts.Get prepaid.outcome=rejected ERROR",
	}, s.tree())
	require.Equal(t, []string{
		"prepaid.call.count{error.type=validation prepaid.operation=Accounts.Get prepaid.outcome=rejected} 1",
		"prepaid.call.duration{prepaid.operation=Accounts.Get prepaid.outcome=rejected} 1",
	}, s.counts())
}

// Each page is a separate call, under the span of the caller that iterates.
func TestPages(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{PageSizes: prepaidtest.PageSizes{Least: 1, Normal: 2, Most: 2}})
	id := s.account("")
	for range 3 {
		s.Adjust(id, "1.00")
	}
	s.token()
	ctx, parent := s.tracers.Tracer("caller").Start(t.Context(), "statement")
	for _, err := range s.client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) {
		require.NoError(t, err)
	}
	parent.End()
	page := []string{
		"  Accounts.Transactions internal prepaid.attempts=1 prepaid.operation=Accounts.Transactions prepaid.outcome=applied",
		"    GET /accounts/{id}/transactions client http.request.method=GET http.response.status_code=200 prepaid.operation=Accounts.Transactions url.template=/accounts/{id}/transactions",
	}
	require.Equal(t, append(append([]string{"statement internal "}, page...), page...), s.tree())
	require.Contains(t, s.counts(), "prepaid.call.count{prepaid.operation=Accounts.Transactions prepaid.outcome=applied} 2")
}

// A report that is not ready is no error.
func TestReport(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{ReportDelay: time.Minute})
	s.AddReportCSV("cards", "a,b\n1,2\n")
	s.token()
	reader, err := s.client.Reporting.Run(t.Context(), "cards", prepaid.RunReportParams{
		Interval:   time.Millisecond,
		OnProgress: func(prepaid.ReportProgress) { s.Advance(time.Minute) },
	})
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, reader)
	require.NoError(t, err)
	const poll = "  GET /reporting/templates/{templatename}/reports/{reportid} client http.request.method=GET http.response.status_code="
	const template = " prepaid.operation=Reporting.Result url.template=/reporting/templates/{templatename}/reports/{reportid}"
	require.Equal(t, []string{
		"Reporting.Result internal prepaid.attempts=1 prepaid.operation=Reporting.Result prepaid.outcome=not_processed",
		poll + "204" + template,
		"Reporting.Result internal prepaid.attempts=1 prepaid.operation=Reporting.Result prepaid.outcome=applied",
		poll + "200" + template,
		"Reporting.Start internal prepaid.attempts=1 prepaid.operation=Reporting.Start prepaid.outcome=applied",
		"  GET /reporting/templates/{templatename} client http.request.method=GET http.response.status_code=200 prepaid.operation=Reporting.Start url.template=/reporting/templates/{templatename}",
	}, s.tree())
	require.Subset(t, s.counts(), []string{
		"prepaid.call.count{prepaid.operation=Reporting.Result prepaid.outcome=applied} 1",
		"prepaid.call.count{prepaid.operation=Reporting.Result prepaid.outcome=not_processed} 1",
	})
}

// Every kind of error is a word of a short list.
func TestErrorTypes(t *testing.T) {
	t.Parallel()
	for want, prepare := range map[string]func(s *stage) (context.Context, prepaid.Config){
		"canceled": func(s *stage) (context.Context, prepaid.Config) {
			ctx, cancel := context.WithCancel(s.t.Context())
			cancel()
			return ctx, s.Config()
		},
		"deadline_exceeded": func(s *stage) (context.Context, prepaid.Config) {
			ctx, cancel := context.WithTimeout(s.t.Context(), 0)
			cancel()
			return ctx, s.Config()
		},
		"404": func(s *stage) (context.Context, prepaid.Config) {
			s.Inject("GET /accounts/{id}", prepaidtest.Respond(404, "account_not_found"))
			return s.t.Context(), s.Config()
		},
		"decode": func(s *stage) (context.Context, prepaid.Config) {
			s.Inject("GET /accounts/{id}", prepaidtest.ProxyPage(200))
			return s.t.Context(), s.Config()
		},
		"transport_body": func(s *stage) (context.Context, prepaid.Config) {
			s.Inject("GET /accounts/{id}", prepaidtest.Truncate().Always())
			return s.t.Context(), s.Config()
		},
		"transport_connect": func(s *stage) (context.Context, prepaid.Config) {
			require.NoError(t, s.Close())
			config := s.Config()
			config.Token = staticToken()
			return s.t.Context(), config
		},
		"timeout": func(s *stage) (context.Context, prepaid.Config) {
			s.Inject("GET /accounts/{id}", prepaidtest.Delay(time.Hour))
			config := s.Config()
			config.Retry.MaxAttempts = 1
			return s.t.Context(), config
		},
		"limiter": func(s *stage) (context.Context, prepaid.Config) {
			config := s.Config()
			config.Token = staticToken()
			config.Limiter = limiterFunc(func(context.Context) error { return &ratelimit.RefusedError{} })
			return s.t.Context(), config
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, prepaidtest.Options{InMemory: true})
				id := s.account("5.00")
				ctx, config := prepare(s)
				s.open(config, prepaidotel.Options{})
				_, err := s.client.Accounts.Get(ctx, id)
				require.Error(t, err)
				require.Regexp(t, "^Accounts.Get internal error.type="+want+" ", s.tree()[0], "%v", err)
			})
		})
	}
}
