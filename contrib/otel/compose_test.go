package prepaidotel_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	prepaidotel "github.com/cardprograms/prepaid/contrib/otel"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

type tokenSource string

func (s tokenSource) Token(context.Context, *oauth2.Token) (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: string(s)}, nil
}

func staticToken() func(context.Context, *oauth2.Token) (*oauth2.Token, error) {
	return tokenSource("token-CANARY").Token
}

type limiterFunc func(context.Context) error

func (f limiterFunc) Acquire(ctx context.Context, _ ratelimit.Lane) (ratelimit.Slot, error) {
	return nil, f(ctx)
}

// headers keeps the header of each request by its path.
type headers struct {
	mu   sync.Mutex
	seen map[string]http.Header
}

func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	if h.seen == nil {
		h.seen = map[string]http.Header{}
	}
	h.seen[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]] = r.Header.Clone()
	h.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// By default no trace context is sent. With a Propagator each request has its own attempt's context, in addition to the
// caller's headers.
func TestPropagation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options prepaidotel.Options
		want    bool
	}{
		"off": {},
		"on":  {options: prepaidotel.Options{Propagator: propagation.TraceContext{}}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			var sent headers
			config := s.Config()
			config.Transport = &sent
			config.Propagate = func(context.Context) http.Header { return http.Header{"X-Own": {"kept"}} }
			s.open(config, c.options)
			id := s.account("5.00")
			_, err := s.client.Accounts.Get(t.Context(), id)
			require.NoError(t, err)
			s.ended()
			parents := map[string]string{}
			for _, span := range s.spans.GetSpans() {
				if span.SpanKind == trace.SpanKindClient {
					parents[span.Name] = "00-" + span.SpanContext.TraceID().String() + "-" + span.SpanContext.SpanID().String() + "-01"
				}
			}
			for path, span := range map[string]string{string(id): "GET /accounts/{id}", "token": "POST /token"} {
				require.Equal(t, "kept", sent.seen[path].Get("X-Own"))
				if c.want {
					require.Equal(t, parents[span], sent.seen[path].Get("Traceparent"))
				} else {
					require.NotContains(t, sent.seen[path], "Traceparent")
				}
			}
		})
	}
}

// A caller's own Trace is called as before, sees the spans in its contexts, and may start its own spans.
func TestOwnTraceIsKept(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	tracer := s.tracers.Tracer("caller")
	var calls, attempts []trace.SpanContext
	config := s.Config()
	config.Token = tokenSource("none").Token
	config.Trace = &prepaid.Trace{
		CallStart: func(ctx context.Context, _ prepaid.Operation) context.Context {
			calls = append(calls, trace.SpanContextFromContext(ctx))
			ctx, span := tracer.Start(ctx, "own")
			span.End()
			return ctx
		},
		AttemptStart: func(ctx context.Context, _ prepaid.Operation, _ int) context.Context {
			attempts = append(attempts, trace.SpanContextFromContext(ctx))
			ctx, span := tracer.Start(ctx, "own too")
			span.End()
			return ctx
		},
	}
	s.open(config, prepaidotel.Options{})
	_, err := s.client.Accounts.Get(t.Context(), s.account("5.00"))
	require.ErrorIs(t, err, prepaid.ErrUnauthorized)
	require.Equal(t, []string{
		"Accounts.Get internal error.type=401 prepaid.attempts=1 prepaid.operation=Accounts.Get prepaid.outcome=not_processed ERROR",
		"  own internal ",
		"    GET /accounts/{id} client error.type=401 http.request.method=GET http.response.status_code=401 prepaid.operation=Accounts.Get url.template=/accounts/{id} ERROR",
		"      own too internal ",
	}, s.tree())
	for _, span := range s.spans.GetSpans() {
		switch span.SpanKind {
		case trace.SpanKindClient:
			require.Equal(t, []trace.SpanContext{span.SpanContext}, attempts)
		case trace.SpanKindInternal:
			if span.Name == "Accounts.Get" {
				require.Equal(t, []trace.SpanContext{span.SpanContext}, calls)
			}
		}
	}
}

// Concurrent calls, also of two clients or within another's call, have separate spans.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.account("5.00")
	inner := s.client
	s.token()
	config := s.Config()
	config.Token = asking{inner}.Token
	s.open(config, prepaidotel.Options{})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, err := s.client.Accounts.Get(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	var want []string
	for range 20 {
		want = append(want,
			"Accounts.Get internal prepaid.attempts=1 prepaid.operation=Accounts.Get prepaid.outcome=applied",
			"  Policy.Get internal prepaid.attempts=1 prepaid.operation=Policy.Get prepaid.outcome=applied",
			"    GET /policy/{id}/policy client http.request.method=GET http.response.status_code=200 prepaid.operation=Policy.Get url.template=/policy/{id}/policy",
			"  GET /accounts/{id} client http.request.method=GET http.response.status_code=200 prepaid.operation=Accounts.Get url.template=/accounts/{id}",
		)
	}
	require.Equal(t, want, s.tree())
	require.Contains(t, s.counts(), "prepaid.call.count{prepaid.operation=Accounts.Get prepaid.outcome=applied} 20")
}

// asking is a token source that makes its own calls, in the context of the call that wants the token.
type asking struct{ client *prepaid.Client }

func (a asking) Token(ctx context.Context, _ *oauth2.Token) (*oauth2.Token, error) {
	if _, err := a.client.Policy.Get(ctx, 42); err != nil {
		return nil, err
	}
	return a.client.Token(ctx)
}
