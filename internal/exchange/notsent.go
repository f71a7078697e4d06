package exchange

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"reflect"
	"slices"
	"sync/atomic"
)

// neverLeft reports whether a request without a response certainly did not reach the service. No other code decides this.
// For an [*http.Transport] it is enough that the transport got no connection; the caller's own must also have asked for one. With
// any other RoundTripper, the hooks or a failed dial may concern only one of several paths. So the error must prove that nothing
// was sent, see [NotSent].
func (s *Sender) neverLeft(x *Exchange, err error) bool {
	switch {
	case x.has(seenConnected):
		return false
	case s.netHTTP && x.has(seenAsked):
		return true
	}
	return NotSent(err)
}

// NotSent reports whether err, the error of a RoundTripper, means that the request never left. Every leaf of the error
// tree must have a method NotSent() bool that returns true, and no error above a leaf may have one that returns
// false. A transport that tried two paths must be certain of both paths.
func NotSent(err error) bool {
	word, says := err.(interface{ NotSent() bool })
	if says && !word.NotSent() {
		return false
	}
	var wrapped []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			wrapped = []error{inner}
		}
	case interface{ Unwrap() []error }:
		wrapped = e.Unwrap()
	}
	if len(wrapped) == 0 {
		return says
	}
	return !slices.ContainsFunc(wrapped, func(one error) bool { return !NotSent(one) })
}

// Wrappable returns t in a form that another RoundTripper can wrap. NotSent is true for the error of a request that got no
// connection, if t asked for one or a clone of t was used. A request with Close set opens its own connection.
func Wrappable(t *http.Transport) http.RoundTripper {
	return wrappable{kept: t, alone: separate(aloneOf(t)), fresh: separate(freshOf(t))}
}

type wrappable struct{ kept, alone, fresh closer }

// RoundTrip implements [http.RoundTripper].
func (w wrappable) RoundTrip(req *http.Request) (*http.Response, error) {
	transport := w.kept
	switch {
	case req.Close:
		transport = w.fresh
	case req.Context().Value(aloneKey{}) != nil:
		transport = w.alone
	}
	var asked, got atomic.Bool
	var seen atomic.Uint32
	response, err := passUnfit(transport, req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(info httptrace.GotConnInfo) {
			if fit(info, &seen) {
				got.Store(true)
			}
		},
	})), &seen)
	switch {
	case err == nil:
		response.Request = req
	case !got.Load() && (asked.Load() || transport != w.kept): // a clone has no registered protocol
		if kept, ok := w.kept.(*http.Transport); ok {
			err = proxyRefusal(kept, req, err)
		}
		err = &connectError{err}
	}
	return response, err
}

// CloseIdleConnections closes the idle connections of the transport and its clones.
func (w wrappable) CloseIdleConnections() {
	w.kept.CloseIdleConnections()
	w.alone.CloseIdleConnections()
	w.fresh.CloseIdleConnections()
}

// connectError is the error of a transport that got no connection. For [NotSent] it is a leaf; errors.Is and errors.As
// examine its cause.
type connectError struct{ err error }

func (e *connectError) Error() string { return e.err.Error() }

// NotSent reports true.
func (*connectError) NotSent() bool { return true }

// Is reports whether the cause matches target.
func (e *connectError) Is(target error) bool { return errors.Is(e.err, target) }

// As finds target in the cause.
func (e *connectError) As(target any) bool { return errors.As(e.err, target) }

// mayConnect reports whether another attempt may succeed after err, the error of a request that was not sent. It returns
// false after a bad certificate or bad credentials of a proxy, and if a RoundTripper refused to send.
func mayConnect(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok || errors.Is(err, ErrProxyCredentials) {
		return false
	}
	if _, ok := errors.AsType[*proxyRefused](err); ok {
		return false
	}
	_, ok := errors.AsType[*connectError](err)
	return ok || !NotSent(err)
}

// withProxyStatus makes t return the refusal of a proxy without the proxy's words, which may be anything.
func withProxyStatus(t *http.Transport) *http.Transport {
	next := t.OnProxyConnectResponse
	t.OnProxyConnectResponse = func(ctx context.Context, proxy *url.URL, request *http.Request, response *http.Response) error {
		if next != nil {
			if err := next(ctx, proxy, request, response); err != nil {
				return err
			}
		}
		return refusalOf(response.StatusCode)
	}
	return t
}

func refusalOf(status int) error {
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusProxyAuthRequired:
		return ErrProxyCredentials
	}
	return proxyError(fmt.Sprintf("the proxy refused to connect (status %d)", status))
}

// proxyRefusal does the same for an error of the caller's own transport: net/http returns the words alone, as a plain error. So it does if
// the connection breaks, but that is no refusal.
func proxyRefusal(t *http.Transport, request *http.Request, err error) (refusal error) {
	refusal = err
	defer func() { _ = recover() }() // Proxy is the caller's function
	if t.Proxy == nil || request.URL.Scheme != "https" || reflect.TypeOf(err) != reflect.TypeOf(errQuoted) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if proxy, failed := t.Proxy(request); failed != nil || proxy == nil {
		return err
	}
	for _, status := range []int{
		http.StatusProxyAuthRequired, http.StatusForbidden, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	} {
		if err.Error() == http.StatusText(status) {
			return refusalOf(status)
		}
	}
	return &proxyRefused{err}
}

// proxyRefused is a refusal whose status net/http does not report (it may be ErrProxyCredentials), or the error of a function of the
// caller's transport, such as VerifyConnection. Since the words may be the proxy's, they are not shown, but the error matches its cause.
type proxyRefused struct{ err error }

func (*proxyRefused) Error() string {
	return "the proxy refused to connect, or a check by the transport failed"
}

// Is reports whether the cause matches target.
func (e *proxyRefused) Is(target error) bool { return errors.Is(e.err, target) }

// proxyError is the refusal of a proxy, in this package's words.
type proxyError string

func (e proxyError) Error() string { return string(e) }
