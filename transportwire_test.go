package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// Redirects are never followed: they would replay bodies and hand the bearer to another port.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, op := range []coreOp{opGet(), opTransfer(), opCreate(), opStart()} {
			t.Run(fmt.Sprint(status, "/", op.name), func(t *testing.T) {
				t.Parallel()
				elsewhere := newWireServer(t, func(_ int, p *peer) {
					t.Errorf("followed with Authorization %q", p.request.header.Get("Authorization"))
					p.succeed(op)
				})
				server := newWireServer(t, func(n int, p *peer) {
					target := elsewhere.address + p.request.target
					if n > 1 {
						t.Error("asked twice")
					}
					p.respond(status, "", "", "Location: "+target)
				})
				err := op.call(t.Context(), newCoreClient(t, coreConfig(server.address)))
				failure, ok := errors.AsType[*prepaid.APIError](err)
				require.True(t, ok)
				require.Equal(t, status, failure.StatusCode)
				want := prepaid.OutcomeUnknown
				if op.name == "Accounts.Get" {
					want = prepaid.OutcomeNotProcessed
				}
				require.Equal(t, want, callError(t, err).Outcome)
				require.NotContains(t, err.Error(), elsewhere.address)
				require.Empty(t, elsewhere.seen())
			})
		}
	}
}

// What each request carries: the vendor's media type, Content-Type only with a body, and no parameters.
func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	for _, op := range coreOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			server := newWireServer(t, func(_ int, p *peer) { p.succeed(op) })
			config := coreConfig(server.address)
			config.UserAgent = "acme-cards/1.4"
			require.NoError(t, op.call(t.Context(), newCoreClient(t, config)))
			request := server.seen()[0]
			require.Equal(t, []string{"Bearer token-1"}, request.header["Authorization"])
			require.Regexp(t, `^prepaid-go/\d+\.\d+\.\d+ acme-cards/1\.4$`, request.header.Get("User-Agent"))
			accept := vendorJSON
			if op.mediaType == octetStream {
				accept = octetStream + ", " + vendorJSON
			}
			require.Equal(t, []string{accept}, request.header["Accept"])
			if request.body == "" {
				require.NotContains(t, request.header, "Content-Type")
			} else {
				require.Equal(t, []string{vendorJSON}, request.header["Content-Type"])
				require.Equal(t, fmt.Sprint(len(request.body)), request.header.Get("Content-Length"))
				require.Empty(t, request.header.Get("Transfer-Encoding"))
			}
			names := []string{"Authorization", "User-Agent", "Accept", "Content-Type", "Content-Length", "Accept-Encoding", "Connection"}
			for name := range request.header {
				require.Contains(t, names, name, "a header nobody asked for")
			}
		})
	}
}

// A good body counts under any media type. A bad one is the service's own fault under its type, or under the
// application/json that proxies put there, and a stranger's under any other: then nothing is known.
func TestAnswerMediaTypes(t *testing.T) {
	t.Parallel()
	for mediaType, want := range map[string]prepaid.Outcome{
		vendorJSON:                           prepaid.OutcomeApplied,
		"Application/Vnd.Vendor+JSON":        prepaid.OutcomeApplied,
		vendorJSON + "; charset=utf-8":       prepaid.OutcomeApplied,
		vendorJSON + ";;broken":              prepaid.OutcomeApplied,
		"application/json":                   prepaid.OutcomeApplied,
		"application/json; charset=utf-8":    prepaid.OutcomeApplied,
		"text/plain":                         prepaid.OutcomeUnknown,
		octetStream:                          prepaid.OutcomeUnknown,
		"":                                   prepaid.OutcomeUnknown,
		"text/html":                          prepaid.OutcomeUnknown,
		"application/problem+json":           prepaid.OutcomeUnknown,
		"application/vnd.somebody-else+json": prepaid.OutcomeUnknown,
	} {
		config := coreConfig("https://cards.example")
		config.Transport = scripted(answered(201, mediaType, summaryJSON), answered(201, mediaType, `{"balance":null}`))
		client := newCoreClient(t, config)
		require.NoError(t, opCreate().call(t.Context(), client), mediaType)
		err := opCreate().call(t.Context(), client)
		require.Equal(t, want, callError(t, err).Outcome, mediaType)
		failure, ok := errors.AsType[*prepaid.DecodeError](err)
		require.True(t, ok)
		require.Equal(t, 201, failure.StatusCode)
		require.Equal(t, strings.ToLower(strings.Split(mediaType, ";")[0]), failure.MediaType)
	}
}

// The path keeps an id in one segment, whatever it holds; the address's own path stays in front.
func TestPathIsEscaped(t *testing.T) {
	t.Parallel()
	for id, want := range map[prepaid.AccountID]string{
		"a b":     "a%20b",
		"a%2Fb":   "a%252Fb",
		"a?b#c":   "a%3Fb%23c",
		"...":     "...",
		"ü;x=1&y": "%C3%BC%3Bx=1&y",
	} {
		service := scripted(answered(200, vendorJSON, accountJSON))
		config := coreConfig("https://cards.example/gate%2Fway/api")
		config.Transport = service
		_, err := newCoreClient(t, config).Accounts.Get(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "/gate%2Fway/api/3.0/accounts/"+want, service.requests()[0].target)
	}
}

// An address works with and without its last slash.
func TestBaseURLSlash(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"https://cards.example/3.0", "https://cards.example/3.0/"} {
		service := scripted(wellAnswered(opGet()))
		config := coreConfig("")
		config.BaseURL, config.Transport = address, service
		require.NoError(t, opGet().call(t.Context(), newCoreClient(t, config)))
		require.Equal(t, opGet().path, service.requests()[0].target)
	}
}

// The Host header and the scheme are those of the address, and a RoundTripper sees an ordinary request.
func TestRequestForRoundTripper(t *testing.T) {
	t.Parallel()
	for _, op := range coreOps() {
		config := coreConfig("https://cards.example:8443")
		config.Transport = scripted(func(r *http.Request) (*http.Response, error) {
			require.Equal(t, "cards.example:8443", r.URL.Host)
			require.Equal(t, "cards.example:8443", r.Host)
			require.Equal(t, "https", r.URL.Scheme)
			require.Nil(t, r.URL.User)
			require.Equal(t, op.name != opGet().name && op.name != opTransfer().name, r.Close)
			return wellAnswered(op)(r)
		})
		require.NoError(t, op.call(context.WithoutCancel(t.Context()), newCoreClient(t, config)))
	}
}

// An error answer without a Content-Type, or with another, is read when it has the service's shape.
func TestErrorShape(t *testing.T) {
	t.Parallel()
	for body, code := range map[string]prepaid.ErrorCode{
		`{"error":"invalid_request"}`:                             prepaid.CodeInvalidRequest,
		`{"error":"x","error":"invalid_uri","extra":[1,{"a":2}]}`: prepaid.CodeInvalidURI,
		`{"error":"odd \u0001\n code"}`:                           "odd \x01\n code",
		`{"error":"invalid_uri","error_description":7}`:           prepaid.CodeInvalidURI,
		`{"error":7}`:    "",
		`{"error":null}`: "",
		`[]`:             "",
		`nonsense`:       "",
		``:               "",
	} {
		for _, mediaType := range []string{vendorJSON, "application/json", "text/html", ""} {
			config := coreConfig("https://cards.example")
			config.Transport = scripted(answered(400, mediaType, body))
			err := opCreate().call(t.Context(), newCoreClient(t, config))
			failure, ok := errors.AsType[*prepaid.APIError](err)
			require.True(t, ok)
			require.Equal(t, code, failure.Code, body)
			require.Equal(t, body, string(failure.Body))
			require.ErrorIs(t, err, prepaid.ErrBadRequest)
			require.False(t, strings.ContainsAny(err.Error(), "\n\x01"), "a hostile code breaks no log line")
			require.Equal(t, code != "", errors.Is(err, code))
		}
	}
}
