package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// canaryResponse makes the response to one request; echo is everything that the request held, and more.
type canaryResponse func(echo string, r *http.Request) (*http.Response, error)

// responseWith responds with canaries in the reason and in a header of every kind.
func responseWith(status int, mediaType, body string) *http.Response {
	text := canaryOf("Answer", "Header")
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status, " ", text), Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		Header: http.Header{
			"Content-Type": {mediaType}, "X-Echo": {text}, canaryOf("Answer", "Name"): {text}, "Location": {"https://elsewhere.example/?" + text},
			"X-Totalpages": {text}, "Retry-After": {text}, "Www-Authenticate": {text}, "Date": {text},
		},
	}
}

// fixedResponse has %s in body where the echo goes, as JSON text.
func fixedResponse(status int, mediaType, body string) canaryResponse {
	return func(echo string, _ *http.Request) (*http.Response, error) {
		quoted, err := json.Marshal(echo)
		return responseWith(status, mediaType, strings.ReplaceAll(body, "%s", string(quoted))), err
	}
}

// canaryResponses is every way of failing that a service, a proxy or a broken connection has.
func canaryResponses() map[string]canaryResponse {
	const service = "application/vnd.vendor+json"
	responses := map[string]canaryResponse{
		"redirect":     fixedResponse(302, "text/html", "<a href=%s>"),
		"media type":   fixedResponse(200, canaryOf("Answer", "Type"), "%s"),
		"parameter":    fixedResponse(200, "text/html; "+canaryOf("Answer", "Type")+"=1", "<html>%s"),
		"bad redirect": fixedResponse(399, service, "%s"),
		"url error": func(echo string, r *http.Request) (*http.Response, error) {
			at := *r.URL
			at.RawQuery = echo
			return nil, fmt.Errorf("proxy: %w", &url.Error{Op: "Post", URL: at.String(), Err: errors.New("connection refused")})
		},
		"quoted path": func(_ string, r *http.Request) (*http.Response, error) {
			return nil, errors.New("blocked: " + r.URL.Path)
		},
		"dial error": func(string, *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Post", URL: canaryOf("Error", "URL"), Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}
		},
		"panic": func(echo string, _ *http.Request) (*http.Response, error) { panic(echo) },
		"broken body": func(echo string, _ *http.Request) (*http.Response, error) {
			response := responseWith(200, service, "")
			response.Body, response.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(`{"a":"`+echo), brokenReader{})), -1
			return response, nil
		},
	}
	for _, status := range []int{400, 401, 403, 404, 408, 409, 429, 500, 503} {
		responses[fmt.Sprint(status)] = fixedResponse(status, service, `{"error":"invalid_request","error_description":%s}`)
	}
	for _, status := range []int{400, 401, 503} {
		responses[fmt.Sprint(status, " code")] = fixedResponse(status, service, `{"error":%s,"error_description":%s}`)
		responses[fmt.Sprint(status, " page")] = fixedResponse(status, "text/html", `<html><body>Request blocked: %s</body></html>`)
	}
	responses["401 unauthorized"] = fixedResponse(401, service, `{"error":"unauthorized","error_description":%s}`)
	responses["400 client"] = fixedResponse(400, service, `{"error":"invalid_client","error_description":%s}`)
	members := `"account_id":%s,"balance":%s,"status":%s,"company_id":%s,"outcome":%s,"success":%s,"transaction_id":[%s],"correlation_id":{"a":%s},` +
		`"plastic_expiry":%s,"code":{"a":%s},"default_action":[%s],"type":7,"id":{"a":%s},"timestamp":%s,"reportdata":{"a":%s},"totalrecords":%s,` +
		`"pan_last_four":[%s],"expires_in":%s,"access_token":[%s],"device":%s,"amount":%s,"personal":%s,"scope":%s`
	for name, body := range map[string]string{
		"truncated": `{"balance":%s,"x":"Cnry_Answer_Body_`, "word": canaryOf("Answer", "Word"), "null": "null", "number": canaryNumber, "empty": "",
		"list of texts": "[%s,%s]", "object": "{%s:%s}", "garbage": "\x00\xff" + canaryOf("Answer", "Garbage"),
		"no date": `[{"balance":1,"status":"x","plastic_expiry":%s}]`,
		"bad csv": `{"reportdata":"a,\"` + canaryOf("Answer", "CSV") + `\"x\n","totalrecords":1}`,
		"member":  `{"reportdata":"a\n","totalrecords":1,"Cnry_Answer_Member_":Cnry_Answer_Value_}`,
		"count":   `{"reportdata":"` + canaryOf("Answer", "CSV") + `\n","totalrecords":990}`,
	} {
		responses["200 "+name] = fixedResponse(200, service, body)
	}
	for _, status := range []int{200, 201, 204} {
		responses[fmt.Sprint(status, " types")] = fixedResponse(status, service, "{"+members+"}")
		responses[fmt.Sprint(status, " list")] = fixedResponse(status, service, "[{"+members+"}]")
		responses[fmt.Sprint(status, " text")] = fixedResponse(status, service, "%s")
		responses[fmt.Sprint(status, " page")] = fixedResponse(status, "text/plain", `<html>%s`)
	}
	return responses
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, fmt.Errorf("read: %w", net.ErrClosed) }

// canaryWatch is everything that a client says on its own: its log in both forms and its traces.
type canaryWatch struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (w *canaryWatch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *canaryWatch) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.out.String()
	w.out.Reset()
	return text
}

func (w *canaryWatch) print(values ...any) {
	for _, value := range values {
		fmt.Fprintf(w, "%v %+v %#v\n", value, value, value)
		slog.New(slog.NewJSONHandler(w, nil)).Info("m", "value", value)
	}
}

func (w *canaryWatch) logger() *slog.Logger {
	debug := &slog.HandlerOptions{Level: slog.LevelDebug}
	return slog.New(slog.NewMultiHandler(slog.NewTextHandler(w, debug), slog.NewJSONHandler(w, debug)))
}

func (w *canaryWatch) trace() *prepaid.Trace {
	return &prepaid.Trace{
		Throttled: func(_ context.Context, op prepaid.Operation, waited time.Duration) { w.print(op, waited) },
		Waiting:   func(_ context.Context, op prepaid.Operation, waited time.Duration) { w.print(op, waited) },
		AttemptStart: func(ctx context.Context, op prepaid.Operation, _ int) context.Context {
			w.print(op)
			return ctx
		},
		AttemptDone:  func(_ context.Context, _ prepaid.Operation, a prepaid.Attempt) { w.print(a) },
		CallDone:     func(_ context.Context, _ prepaid.Operation, c prepaid.CallSummary) { w.print(&c) },
		TokenRenewed: func(_ context.Context, took time.Duration, err error) { w.print(took, err) },
	}
}

// requireNothingSeen fails on any canary at all.
func requireNothingSeen(t *testing.T, what, text string) {
	t.Helper()
	require.Empty(t, canariesIn(text), what)
	for _, canary := range []string{canaryName, canaryNumber, canaryPostcode, canaryHMAC, "Basic ", "Bearer "} {
		require.NotContains(t, text, canary, what)
	}
}

// requireQuietError prints err, and each error inside it, in every way.
func requireQuietError(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var w canaryWatch
	w.print(struct {
		Err  error
		List []error
		err  error
	}{err, []error{err}, err}, err)
	fmt.Fprintf(&w, "%s %q %v %v %s", err, err, fmt.Errorf("outer: %w", err), errors.Join(err, err), err.Error())
	if call, ok := errors.AsType[*prepaid.CallError](err); ok {
		w.print(*call)
	}
	asJSON, _ := json.Marshal(err)
	_, _ = w.Write(asJSON)
	printTree(&w, err)
	requireNothingSeen(t, what, w.take())
}

// printTree prints each error inside err.
func printTree(w io.Writer, err error) {
	fmt.Fprintf(w, "%+v %#v\n", err, err)
	switch inner := err.(type) {
	case interface{ Unwrap() error }:
		if one := inner.Unwrap(); one != nil {
			printTree(w, one)
		}
	case interface{ Unwrap() []error }:
		for _, one := range inner.Unwrap() {
			printTree(w, one)
		}
	}
}

// canaryConfig responds to every call with response, and the token request too when that is asked for.
func canaryConfig(w *canaryWatch, response canaryResponse, token bool) prepaid.Config {
	config := harness.ServiceConfig()
	config.ClientSecret = prepaid.NewSecret(canaryOf("Config", "ClientSecret"))
	config.Retry = prepaid.RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1, InFlightWait: 1, MaxThrottleWait: 1, MaxRetryAfter: 1, TokenHold: 1}
	config.Logger, config.Trace = w.logger(), w.trace()
	config.Transport = harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
		var body []byte
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		if strings.HasSuffix(r.URL.Path, "/token") && !token {
			return harness.Respond(200, harness.VendorJSON, `{"access_token":"`+canaryOf("Token", "Access")+`","token_type":"bearer","expires_in":3600}`)(r)
		}
		query, _ := url.QueryUnescape(r.URL.RawQuery)
		return response(strings.Join([]string{canaryOf("Answer", "Echo"), string(body), query, r.Header.Get("Authorization")}, " "), r)
	})
	return config
}

// No error, log record or trace of any call shows sent or received values, however the call fails, or the token request before it, whose
// Basic header has the client secret.
func TestCanaryErrorsOfAllCalls(t *testing.T) {
	t.Parallel()
	calls := canaryCalls(t)
	for name, response := range canaryResponses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var w canaryWatch
				for token, some := range map[bool][]canaryCall{false: calls, true: calls[:3]} {
					client, failed, logged := harness.NewClient(t, canaryConfig(&w, response, token)), 0, 0
					for _, c := range some {
						var seen harness.Capture
						ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a report is waited for no longer
						err := c.call(seen.In(ctx), client)
						cancel()
						requireQuietError(t, c.name, err)
						w.print(&seen, seen.Last())
						text := w.take()
						requireNothingSeen(t, c.name+" log and trace", text)
						if err != nil {
							failed++
						}
						if strings.Contains(text, "operation="+c.name) {
							logged++
						}
					}
					_, err := client.Token(t.Context())
					require.Equal(t, token, err != nil)
					requireQuietError(t, "Token", err)
					require.Greater(t, failed, len(some)/2)
					require.Positive(t, logged)
				}
			})
		})
	}
}

type failingSource struct{ err error }

func (s failingSource) Token(context.Context, *oauth2.Token) (*oauth2.Token, error) {
	return nil, s.err
}

// The errors of x/oauth2 hold the response's body, and the request with its Basic header.
func TestCanaryErrorsOfForeignTokenSource(t *testing.T) {
	t.Parallel()
	body := canaryOf("OAuth", "Body")
	request, err := http.NewRequest(http.MethodPost, "https://issuer.example/?"+body, nil)
	require.NoError(t, err)
	request.SetBasicAuth("id", canaryOf("OAuth", "Secret"))
	retrieve := &oauth2.RetrieveError{
		Response: &http.Response{StatusCode: 401, Status: "401 " + body, Request: request, Header: http.Header{"X": {body}}}, Body: []byte(body),
		ErrorCode: body, ErrorDescription: body, ErrorURI: "https://issuer.example/" + body,
	}
	for _, cause := range []error{
		retrieve, fmt.Errorf("source %s: %w", body, retrieve), &url.Error{Op: "Post", URL: "https://issuer.example/?" + body, Err: io.ErrUnexpectedEOF},
	} {
		var w canaryWatch
		config := canaryConfig(&w, nil, false)
		config.ClientID, config.ClientSecret, config.Token = "", prepaid.Secret{}, failingSource{cause}.Token
		client := harness.NewClient(t, config)
		_, err := client.Accounts.Create(t.Context(), canaryCreate())
		require.ErrorAs(t, err, new(*prepaid.TokenError))
		requireQuietError(t, "Create", err)
		_, err = client.Token(t.Context())
		requireQuietError(t, "Token", err)
		requireNothingSeen(t, "log and trace", w.take())
	}
}
