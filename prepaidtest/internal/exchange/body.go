package exchange

import (
	"errors"
	"io"
	"net/http"
)

// MaxBody bounds a request body; the largest in the reference is a few kilobytes.
const MaxBody = 4 << 20

// ReadBody reads the body. It returns false if no response is possible: the caller has disconnected, or the body
// cannot be read.
func (c *Call) ReadBody(w http.ResponseWriter) bool {
	var err error
	c.Body, err = io.ReadAll(http.MaxBytesReader(w, c.Request.Body, MaxBody))
	if _, c.TooLarge = errors.AsType[*http.MaxBytesError](err); err == nil || c.TooLarge {
		return true
	}
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusBadRequest)
	return false
}
