package prepaidtest

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Fault is one request gone wrong. Make one with a function of this package and arm it with Inject; it is then
// used once. The zero Fault does nothing but count a request.
type Fault struct {
	kind        faultKind
	status      int
	code        string
	contentType string
	body        string
	wait        time.Duration
}

type faultKind int

const (
	faultNone faultKind = iota
	faultCommitThenDrop
	faultDropBeforeCommit
	faultAnswer
	faultAnswerBody
	faultDelay
	faultTruncate
)

// CommitThenDrop carries the request out and then cuts the connection without an answer: the money has moved
// and the caller does not know.
func CommitThenDrop() Fault { return Fault{kind: faultCommitThenDrop} }

// DropBeforeCommit reads the request and cuts the connection: nothing has happened, and the caller cannot tell
// this from CommitThenDrop.
func DropBeforeCommit() Fault { return Fault{kind: faultDropBeforeCommit} }

// Answer replies with status and the service's error body holding code, without carrying the request out. With
// an empty code it is the one usual for the status.
func Answer(status int, code string) Fault {
	return Fault{kind: faultAnswer, status: status, code: code}
}

// AnswerBody replies with these bytes as they are, without carrying the request out: the page of a proxy, say.
func AnswerBody(status int, contentType, body string) Fault {
	return Fault{kind: faultAnswerBody, status: status, contentType: contentType, body: body}
}

// Delay waits d of real time before the request is carried out, then answers as usual.
func Delay(d time.Duration) Fault { return Fault{kind: faultDelay, wait: d} }

// Truncate carries the request out, announces the whole answer and cuts the connection in the middle of it.
func Truncate() Fault { return Fault{kind: faultTruncate} }

// Inject arms faults for an operation, named as in Operations, for example "POST /accounts/{id}/transfer". The
// next requests to it that carry a good token use them up in order, one each. An unknown operation fails the
// test.
func (s *Server) Inject(operation string, faults ...Fault) {
	if !slices.ContainsFunc(s.routes, func(r *route) bool { return r.name() == operation }) {
		if s.tb != nil {
			s.tb.Helper()
		}
		s.fail("Inject: no operation has the given name; see Operations")
		return
	}
	s.faults.arm(operation, faults)
}

// ArmedFaults returns how many faults wait to be used.
func (s *Server) ArmedFaults() int { return s.faults.count() }

// ClearFaults disarms the faults that were not used.
func (s *Server) ClearFaults() { s.faults.clear() }

type faultQueue struct {
	mu    sync.Mutex
	armed map[string][]Fault
}

func newFaultQueue() *faultQueue { return &faultQueue{armed: make(map[string][]Fault)} }

func (q *faultQueue) arm(operation string, faults []Fault) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed[operation] = append(q.armed[operation], faults...)
}

func (q *faultQueue) take(operation string) *Fault {
	q.mu.Lock()
	defer q.mu.Unlock()
	armed := q.armed[operation]
	if len(armed) == 0 {
		return nil
	}
	q.armed[operation] = armed[1:]
	return &armed[0]
}

func (q *faultQueue) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	count := 0
	for _, armed := range q.armed {
		count += len(armed)
	}
	return count
}

func (q *faultQueue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.armed)
}

// before does what a fault does ahead of the operation. A reply means the operation is not carried out.
func (f *Fault) before(c *call) *reply {
	switch f.kind {
	case faultDelay:
		timer := time.NewTimer(f.wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.server.stopping:
		}
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
	}
	return nil
}

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

// drops tells whether the caller gets no answer at all.
func (f *Fault) drops() bool {
	return f != nil && (f.kind == faultCommitThenDrop || f.kind == faultDropBeforeCommit)
}

// cuts tells whether the connection is cut during or instead of the answer.
func (f *Fault) cuts() bool { return f.drops() || (f != nil && f.kind == faultTruncate) }

// deliver writes the answer, or what a fault leaves of it.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, answer reply, fault *Fault) {
	switch {
	case fault.drops():
		cut(w, nil)
	case fault.cuts():
		cut(w, truncated(answer))
	default:
		s.write(w, r, answer)
	}
}

func (s *Server) deliverStream(w http.ResponseWriter, answer reply, fault *Fault) {
	if fault.drops() {
		cut(w, nil)
		return
	}
	truncateStream(w, answer)
}

// truncated is an answer cut in the middle of its body, or of its head when there is no body.
func truncated(answer reply) []byte {
	whole := rawAnswer(answer, false)
	if len(answer.body) < 2 {
		return whole[:len(whole)/2]
	}
	return whole[:len(whole)-len(answer.body)/2]
}

// cut writes some bytes to the connection and closes it.
func cut(w http.ResponseWriter, some []byte) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's own way to cut a connection that cannot be taken over
	}
	_, _ = connection.Write(some)
	_ = connection.Close()
}
