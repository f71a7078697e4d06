package prepaidtest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// before does what a fault does ahead of the operation. A reply means the operation is not carried out.
func (s *Server) before(f *Fault, c *exchange.Call) *exchange.Response {
	switch f.kind {
	case faultDelay:
		s.pause(f.wait, nil)
	case faultDropBeforeCommit:
		return &exchange.Response{}
	case faultAnswer:
		code := f.code
		if code == "" {
			code = usualCode(f.status)
		}
		return new(c.Refuse(f.status, code, "injected"))
	case faultAnswerBody:
		return &exchange.Response{Status: f.status, ContentType: f.contentType, Body: []byte(f.body)}
	case faultProxyPage:
		return &exchange.Response{Status: f.status, ContentType: "text/html", Body: proxyPage(f.status)}
	case faultTooMany:
		refusal := c.Refuse(http.StatusTooManyRequests, "rate_limit_exceeded", "injected")
		refusal.RetryAfter = wholeSeconds(f.wait)
		return &refusal
	case faultExpireToken:
		_, token := c.Bearer()
		s.mu.Lock()
		delete(s.tokens, token)
		s.mu.Unlock()
		return new(s.badToken(c))
	}
	return nil
}

// runOn carries a request out once d of real time has passed, or at once when the server closes. Nobody waits for the
// response.
func (s *Server) runOn(c exchange.Call, d time.Duration) {
	c.Request = c.Request.WithContext(context.WithoutCancel(c.Request.Context()))
	s.mu.Lock()
	s.pending++
	s.mu.Unlock()
	s.work.Go(func() {
		s.pause(d, nil)
		s.clock.Settle()
		s.carryOut(&c).Release()
		s.mu.Lock()
		s.settled(1)
		s.mu.Unlock()
	})
}

func proxyPage(status int) []byte {
	title := strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
	return []byte("<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title +
		"</h1></center>\r\n<hr><center>proxy</center>\r\n</body>\r\n</html>\r\n")
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

func usualCode(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusConflict:
		return "duplicate_request"
	case http.StatusTooManyRequests:
		return "rate_limit_exceeded"
	}
	if status >= http.StatusInternalServerError {
		return "server_error"
	}
	return "invalid_request"
}

// pause waits d of real time; false when the server closes or done ends before.
func (s *Server) pause(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stopping:
	case <-done:
	}
	return false
}

// drops tells whether the caller gets no answer at all.
func (f *Fault) drops() bool {
	return f != nil && (f.kind == faultCommitThenDrop || f.kind == faultDropBeforeCommit)
}

// takesOver tells whether the fault writes the answer to the connection itself.
func (f *Fault) takesOver() bool {
	return f.drops() || (f != nil && (f.kind == faultTruncate || f.kind == faultWrongLength))
}

// disguise changes the headers of the answer.
func (f *Fault) disguise(a *exchange.Response) {
	if f != nil && f.kind == faultContentType && (len(a.Body) > 0 || a.Stream != nil) {
		a.ContentType = f.contentType
	}
}

// slow returns what to write to: w itself, or a slow one.
func (f *Fault) slow(s *Server, w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	if f == nil || f.kind != faultSlowBody {
		return w
	}
	return &slowWriter{ResponseWriter: w, wait: func() bool { return s.pause(f.wait, r.Context().Done()) }}
}

// spoil writes what the fault leaves of the answer and cuts the connection.
func (s *Server) spoil(w http.ResponseWriter, a exchange.Response, fault *Fault) {
	switch {
	case fault.drops():
		exchange.Cut(w, nil)
	case fault.kind == faultWrongLength:
		s.writeWrongLength(w, a, fault.delta)
	case a.Stream != nil:
		truncateStream(w, a)
	default:
		exchange.Cut(w, truncated(a))
	}
}

// truncated is an answer cut in the middle of its body, or of its head when there is no body.
func truncated(answer exchange.Response) []byte {
	whole := append(answer.RawHead(len(answer.Body), false), answer.Body...)
	if len(answer.Body) < 2 {
		return whole[:len(whole)/2]
	}
	return whole[:len(whole)-len(answer.Body)/2]
}

// writeWrongLength makes a streamed body twice: once to know its length, once to send it.
func (s *Server) writeWrongLength(w http.ResponseWriter, a exchange.Response, delta int) {
	if a.Stream == nil {
		a.Stream = func(w io.Writer) error {
			_, err := w.Write(a.Body)
			return err
		}
	}
	var length byteCounter
	if a.Stream(&length) != nil {
		exchange.Cut(w, nil)
		return
	}
	connection := exchange.TakeOver(w)
	sent := make(chan struct{})
	s.work.Go(func() { // net/http no longer closes this connection
		select {
		case <-s.stopping:
			_ = connection.Close()
		case <-sent:
		}
	})
	buffered := bufio.NewWriter(connection) // keeps its first error
	_, _ = buffered.Write(a.RawHead(max(int(length)+delta, 0), false))
	if a.Stream(buffered) == nil {
		_ = buffered.Flush() // the caller has gone away
	}
	close(sent)
	_ = connection.Close()
}

type byteCounter int

// Write counts.
func (n *byteCounter) Write(p []byte) (int, error) {
	*n += byteCounter(len(p))
	return len(p), nil
}

// slowPiece is how much goes out between two pauses.
const slowPiece = 16

// slowWriter sends a body in small pieces.
type slowWriter struct {
	http.ResponseWriter
	wait  func() bool
	begun bool
}

// Write waits before each piece but the first.
func (w *slowWriter) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		if w.begun && !w.wait() {
			return written, net.ErrClosed
		}
		w.begun = true
		n, err := w.ResponseWriter.Write(p[written:min(written+slowPiece, len(p))])
		written += n
		if err != nil {
			return written, err
		}
		_ = http.NewResponseController(w.ResponseWriter).Flush() // not every writer can
	}
	return written, nil
}

// Unwrap serves http.ResponseController.
func (w *slowWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// truncateStream sends half of the beginning and cuts the connection.
func truncateStream(w http.ResponseWriter, a exchange.Response) {
	var start bytes.Buffer
	_ = a.Stream(&limitedBuffer{buffer: &start, limit: exchange.StreamHead}) // cut short either way
	a.Body, a.Stream = start.Bytes(), nil
	exchange.Cut(w, truncated(a))
}

// limitedBuffer keeps the first bytes and forgets the rest.
type limitedBuffer struct {
	buffer *bytes.Buffer
	limit  int
}

// Write implements io.Writer.
func (l *limitedBuffer) Write(p []byte) (int, error) {
	l.buffer.Write(p[:min(len(p), max(l.limit-l.buffer.Len(), 0))])
	return len(p), nil
}
