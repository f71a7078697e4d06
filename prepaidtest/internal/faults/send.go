package faults

import (
	"net/http"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// Drops reports whether the caller gets no response at all.
func (f *Fault) Drops() bool {
	return f != nil && (f.Kind == CommitThenDrop || f.Kind == DropBeforeCommit)
}

// TakesOver reports whether the fault writes the response to the connection itself.
func (f *Fault) TakesOver() bool {
	return f.Drops() || (f != nil && f.Kind == Truncate)
}

// RewriteHeader changes the headers of the response.
func (f *Fault) RewriteHeader(a *exchange.Response) {
	if f != nil && f.Kind == ContentType && len(a.Body) > 0 {
		a.ContentType = f.ContentType
	}
}

// Send writes the response, changed by the fault, and cuts the connection.
func (f *Fault) Send(w http.ResponseWriter, a exchange.Response) {
	if f.Drops() {
		exchange.Cut(w, nil)
		return
	}
	exchange.Cut(w, truncated(a))
}

// truncated is a response cut in the middle of its body or, without a body, of its head.
func truncated(response exchange.Response) []byte {
	whole := append(response.RawHead(len(response.Body)), response.Body...)
	if len(response.Body) < 2 {
		return whole[:len(whole)/2]
	}
	return whole[:len(whole)-len(response.Body)/2]
}
