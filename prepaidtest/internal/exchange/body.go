package exchange

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	// MaxBody bounds a request body; the largest in the reference is a few kilobytes.
	MaxBody = 4 << 20
	// MaxSurplus is how much is read past MaxBody, so that a caller that sends a larger body gets the refusal.
	MaxSurplus = 1 << 20
	// BodyTimeout is how long a caller may take to send a body.
	BodyTimeout = time.Minute
)

// LimitBody gives the caller BodyTimeout to send the body; server may be nil. If the emulator is mounted in another
// server, that server's deadlines apply.
func LimitBody(server *http.Server, w http.ResponseWriter, r *http.Request) (limited bool) {
	if r.ContentLength == 0 || server == nil || r.Context().Value(http.ServerContextKey) != server {
		return false
	}
	return http.NewResponseController(w).SetReadDeadline(time.Now().Add(BodyTimeout)) == nil
}

// ReadBody reads the body. It returns false if no response is possible: the caller has disconnected, or the body
// cannot be read.
func (c *Call) ReadBody(w http.ResponseWriter, limited bool) bool {
	r := c.Request
	var err error
	c.Body, err = io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err == nil && len(c.Body) > MaxBody {
		_, err = io.CopyN(io.Discard, r.Body, MaxSurplus)
		if err == nil { // the body may be endless
			w.Header().Set("Connection", "close")
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.Late = true
		w.Header().Set("Connection", "close")
	case err != nil:
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusBadRequest)
		return false
	case limited: // the deadline must not end a slow response
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	return true
}

// TooLarge reports whether the body exceeds MaxBody.
func (c *Call) TooLarge() bool { return len(c.Body) > MaxBody }
