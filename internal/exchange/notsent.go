package exchange

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptrace"
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
// false after a bad certificate, and if a RoundTripper refused to send.
func mayConnect(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	_, ok := errors.AsType[*connectError](err)
	return ok || !NotSent(err)
}
