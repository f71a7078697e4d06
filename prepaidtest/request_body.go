package prepaidtest

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	// maxBody bounds a request body; the largest the reference knows is a few kilobytes.
	maxBody = 4 << 20
	// maxSurplus is how much more is read, so that the refusal of a body that is too large does not get lost.
	maxSurplus = 1 << 20
	// bodyTimeout is how long a caller may take to send a body.
	bodyTimeout = time.Minute
)

// limitBody gives the caller bodyTimeout to send the body. Where the server is mounted elsewhere, that server's own
// deadlines hold.
func (s *Server) limitBody(w http.ResponseWriter, r *http.Request) (limited bool) {
	if r.ContentLength == 0 || s.http == nil || r.Context().Value(http.ServerContextKey) != s.http {
		return false
	}
	return http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) == nil
}

// readBody reads the body of c. False means that no answer is possible: the caller has gone away, or the body
// cannot be read.
func (s *Server) readBody(w http.ResponseWriter, c *call, limited bool) bool {
	r := c.request
	var err error
	c.body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil && len(c.body) > maxBody {
		_, err = io.CopyN(io.Discard, r.Body, maxSurplus)
		if err == nil { // there may be more without end
			w.Header().Set("Connection", "close")
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.late = true
		w.Header().Set("Connection", "close")
	case err != nil:
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusBadRequest)
		return false
	case limited: // the deadline must not end a slow answer
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	return true
}
