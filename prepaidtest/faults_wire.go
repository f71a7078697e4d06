package prepaidtest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// before does what a fault does ahead of the operation. A reply means the operation is not carried out.
func (f *Fault) before(c *call) *reply {
	switch f.kind {
	case faultDelay:
		c.server.pause(f.wait, nil)
	case faultDropBeforeCommit:
		return &reply{}
	case faultAnswer:
		code := f.code
		if code == "" {
			code = usualCode(f.status)
		}
		return new(c.refuse(f.status, code, "injected"))
	case faultAnswerBody:
		return &reply{status: f.status, contentType: f.contentType, body: []byte(f.body)}
	case faultProxyPage:
		return &reply{status: f.status, contentType: "text/html", body: proxyPage(f.status)}
	case faultTooMany:
		refusal := c.refuse(http.StatusTooManyRequests, "rate_limit_exceeded", "injected")
		refusal.retryAfter = wholeSeconds(f.wait)
		return &refusal
	case faultExpireToken:
		_, token := c.bearer()
		c.server.mu.Lock()
		delete(c.server.tokens, token)
		c.server.mu.Unlock()
		return new(c.badToken())
	}
	return nil
}

// runOn carries a request out once d of real time has passed, or at once when the server closes. Nobody waits for the
// response.
func (s *Server) runOn(c call, d time.Duration) {
	c.request = c.request.WithContext(context.WithoutCancel(c.request.Context()))
	s.mu.Lock()
	s.pending++
	s.mu.Unlock()
	s.work.Go(func() {
		s.pause(d, nil)
		s.clock.settle()
		if answer := s.carryOut(&c); answer.pooled {
			s.pages.put(answer.body)
		}
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
func (f *Fault) disguise(a *reply) {
	if f != nil && f.kind == faultContentType && (len(a.body) > 0 || a.stream != nil) {
		a.contentType = f.contentType
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
func (s *Server) spoil(w http.ResponseWriter, a reply, fault *Fault) {
	switch {
	case fault.drops():
		cut(w, nil)
	case fault.kind == faultWrongLength:
		s.writeWrongLength(w, a, fault.delta)
	case a.stream != nil:
		truncateStream(w, a)
	default:
		cut(w, truncated(a))
	}
}

// truncated is an answer cut in the middle of its body, or of its head when there is no body.
func truncated(answer reply) []byte {
	whole := append(rawHead(answer, len(answer.body), false), answer.body...)
	if len(answer.body) < 2 {
		return whole[:len(whole)/2]
	}
	return whole[:len(whole)-len(answer.body)/2]
}

// cut writes some bytes to the connection and closes it.
func cut(w http.ResponseWriter, some []byte) {
	connection := takeOver(w)
	_, _ = connection.Write(some)
	_ = connection.Close()
}

func takeOver(w http.ResponseWriter) net.Conn {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's own way to cut a connection that cannot be taken over
	}
	return connection
}

// writeWrongLength makes a streamed body twice: once to know its length, once to send it.
func (s *Server) writeWrongLength(w http.ResponseWriter, a reply, delta int) {
	if a.stream == nil {
		a.stream = func(w io.Writer) error {
			_, err := w.Write(a.body)
			return err
		}
	}
	var length byteCounter
	if a.stream(&length) != nil {
		cut(w, nil)
		return
	}
	connection := takeOver(w)
	sent := make(chan struct{})
	s.work.Go(func() { // net/http no longer closes this connection
		select {
		case <-s.stopping:
			_ = connection.Close()
		case <-sent:
		}
	})
	buffered := bufio.NewWriter(connection) // keeps its first error
	_, _ = buffered.Write(rawHead(a, max(int(length)+delta, 0), false))
	if a.stream(buffered) == nil {
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
