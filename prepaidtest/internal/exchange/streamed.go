package exchange

import (
	"bytes"
	"io"
	"net"
	"net/http"
)

// StreamHead is how much of a report is held back, so that an early failure can still become a 500.
const StreamHead = 32 << 10

// headWriter holds back the first bytes, up to a limit or until release.
type headWriter struct {
	w     io.Writer
	limit int
	held  bytes.Buffer
	begun bool
}

// Write implements io.Writer.
func (h *headWriter) Write(p []byte) (int, error) {
	if !h.begun && h.held.Len()+len(p) <= h.limit {
		return h.held.Write(p)
	}
	if err := h.release(); err != nil {
		return 0, err
	}
	return h.w.Write(p)
}

func (h *headWriter) release() error {
	h.begun = true
	_, err := h.held.WriteTo(h.w)
	return err
}

// WriteStream sends a response that is made while it is sent, and returns the response that the caller got.
// An early failure becomes a 500; a later failure cuts the connection, so that the caller notices it.
func (c *Call) WriteStream(w http.ResponseWriter, a Response) Response {
	head := &headWriter{w: w, limit: StreamHead}
	a.header(w.Header())
	err := a.Stream(head)
	if err == nil {
		err = head.release()
	} else if !head.begun {
		a = c.Refuse(http.StatusInternalServerError, "server_error", "the report failed, request it again")
		a.Write(w, c.Request, nil)
		return a
	}
	if err != nil {
		Cut(w, nil)
	}
	return a
}

// Cut writes some bytes to the connection and closes it.
func Cut(w http.ResponseWriter, some []byte) {
	connection := TakeOver(w)
	_, _ = connection.Write(some)
	_ = connection.Close()
}

// TakeOver takes the connection over. After that, net/http does not close the connection.
func TakeOver(w http.ResponseWriter) net.Conn {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // makes net/http cut a connection that cannot be taken over
	}
	return connection
}
