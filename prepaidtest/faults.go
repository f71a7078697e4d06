package prepaidtest

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// AnyOperation stands for every operation in Inject, the token endpoint included.
const AnyOperation = "*"

// Fault is one request gone wrong. Make one with a function of this package and arm it with Inject; it is then
// used once, unless Times, Always or WithProbability say otherwise. The zero Fault does nothing but count a
// request.
type Fault struct {
	schedule
	kind        faultKind
	status      int
	code        string
	contentType string
	body        string
	wait        time.Duration
	delta       int
	late        bool          // is carried out all the same
	after       time.Duration // how much later
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
	faultSlowBody
	faultProxyPage
	faultContentType
	faultWrongLength
	faultTooMany
	faultExpireToken
)

// CommitThenDrop carries the request out and then cuts the connection without an answer: the money has moved
// and the caller does not know.
func CommitThenDrop() Fault { return Fault{kind: faultCommitThenDrop} }

// DropBeforeCommit reads the request and cuts the connection: nothing has happened, and the caller cannot tell
// this from CommitThenDrop.
func DropBeforeCommit() Fault { return Fault{kind: faultDropBeforeCommit} }

// Answer replies with status (200 to 999) and the service's error body holding code, without carrying the request
// out. With an empty code it is the one usual for the status.
func Answer(status int, code string) Fault {
	return Fault{kind: faultAnswer, status: status, code: code}
}

// AnswerBody replies with these bytes as they are, without carrying the request out. The status is 200 to 999; an
// empty contentType sends no such header.
func AnswerBody(status int, contentType, body string) Fault {
	return Fault{kind: faultAnswerBody, status: status, contentType: contentType, body: body}
}

// ProxyPage replies with status (200 to 999) and an HTML page as a proxy on the way writes it, without carrying the
// request out.
func ProxyPage(status int) Fault { return Fault{kind: faultProxyPage, status: status} }

// TooManyRequests replies 429 with the code rate_limit_exceeded, without carrying the request out. Retry-After
// holds retryAfter in whole seconds, rounded up; zero sends no such header. With Times it is a storm.
func TooManyRequests(retryAfter time.Duration) Fault {
	return Fault{kind: faultTooMany, wait: retryAfter}
}

// ExpireToken makes the access token that came with the request invalid and refuses the request as section 5 has
// it: 401, and so with every later request until another token is fetched. It is not for the token endpoint,
// which takes none: armed for AnyOperation it passes that one by.
func ExpireToken() Fault { return Fault{kind: faultExpireToken} }

// Delay waits d of real time before the request is carried out, then responds as usual. The request is running all that
// time, also when its caller has left: a transfer with the same request_id that arrives meanwhile is carried out too.
func Delay(d time.Duration) Fault { return Fault{kind: faultDelay, wait: d} }

// Truncate carries the request out, announces the whole answer and cuts the connection in the middle of it.
func Truncate() Fault { return Fault{kind: faultTruncate} }

// SlowBody carries the request out and sends the whole body of the answer 16 bytes at a time, with pause of real
// time between. It ends early when the caller leaves or the server closes.
func SlowBody(pause time.Duration) Fault { return Fault{kind: faultSlowBody, wait: pause} }

// SubstituteContentType carries the request out and sends the right body under another Content-Type, as some
// proxies do; an empty value sends no such header. An answer without a body has none to substitute.
func SubstituteContentType(value string) Fault {
	return Fault{kind: faultContentType, contentType: value}
}

// WrongLength carries the request out and announces a Content-Length that is delta bytes more than the body has,
// or fewer when delta is negative (never below zero), sends the body and closes the connection.
func WrongLength(delta int) Fault { return Fault{kind: faultWrongLength, delta: delta} }

// CommitAfter makes a fault that does not carry the request out do so all the same, d of real time after its response
// was sent or the connection was cut, d above 0: a gateway gives up, and the service goes on. It is for DropBeforeCommit,
// Answer, AnswerBody and ProxyPage, of any operation. Until then the request is still running, so that a transfer with
// the same request_id that arrives meanwhile moves the money a second time. A server that closes carries out at once
// what still runs.
func (f Fault) CommitAfter(d time.Duration) Fault {
	f.late, f.after = true, d
	return f
}

// Times makes a fault count n times, 1 or more. It undoes Always.
func (f Fault) Times(n int) Fault {
	f.repeat(n)
	return f
}

// Always makes a fault stay armed until RemoveFaults or ClearFaults. It undoes Times.
func (f Fault) Always() Fault {
	f.forever()
	return f
}

// WithProbability makes each matching request take the fault with probability p, above 0 and at most 1; one that
// does not is free for the next armed fault. Without Times the fault stays armed. RandomSeed makes the draws the same
// in each run.
func (f Fault) WithProbability(p float64) Fault {
	f.sometimes(p)
	return f
}

// check finds numbers out of their range.
func (f Fault) check() error {
	switch f.kind {
	case faultAnswer, faultAnswerBody, faultProxyPage:
		if f.status < http.StatusOK || f.status > 999 {
			return errors.New("the status must be 200 to 999")
		}
	case faultDelay, faultSlowBody, faultTooMany:
		if f.wait < 0 {
			return errors.New("the duration must not be negative")
		}
	case faultWrongLength:
		if f.delta == 0 {
			return errors.New("the length must be wrong by more than 0")
		}
	}
	switch {
	case f.late && !slices.Contains([]faultKind{faultDropBeforeCommit, faultAnswer, faultAnswerBody, faultProxyPage}, f.kind):
		return errors.New("CommitAfter is for a fault that does not carry the request out")
	case f.late && f.after <= 0:
		return errors.New("CommitAfter must be above 0")
	}
	return f.schedule.check()
}

// Inject arms faults for an operation, named as in Operations, for example "POST /accounts/{id}/transfer", or for
// AnyOperation. The next requests to it that carry a good token use them in the order armed, one each, those for
// the operation itself before those for any. A fault with Always keeps the ones behind it waiting. An unknown
// operation and a number out of its range fail the test, and then nothing is armed.
func (s *Server) Inject(operation string, faults ...Fault) {
	if s.tb != nil {
		s.tb.Helper()
	}
	if operation != AnyOperation && !s.routes.Has(operation) {
		s.fail("Inject: no operation has the given name; see Operations")
		return
	}
	for _, fault := range faults {
		if err := fault.check(); err != nil {
			s.fail("Inject: %v", err)
			return
		}
		if fault.kind == faultExpireToken && operation == tokenOperation {
			s.fail("Inject: ExpireToken is not for the token endpoint")
			return
		}
	}
	s.faults.arm(operation, faults)
}

// FaultsLeft returns how many requests the armed faults will spoil: one with Times counts as often as it has
// left, one without end counts once.
func (s *Server) FaultsLeft() int { return s.faults.count() }

// ArmedFault is a fault that waits to be used.
type ArmedFault struct {
	// Operation is the one given to Inject, AnyOperation included.
	Operation string
	// Fault is the fault with its modifiers.
	Fault Fault
	// Used is how many requests took it.
	Used int
	// Left is how many more will, -1 when without end.
	Left int
}

// Faults returns the armed faults in the order armed.
func (s *Server) Faults() []ArmedFault {
	waiting := s.faults.all()
	list := make([]ArmedFault, len(waiting))
	for i, one := range waiting {
		list[i] = ArmedFault{Operation: one.name, Fault: one.fault, Used: one.used, Left: one.left}
	}
	return list
}

// RemoveFaults disarms the faults that were armed for operation; for AnyOperation those that were armed under it.
func (s *Server) RemoveFaults(operation string) { s.faults.remove(operation) }

// ClearFaults disarms the faults of all operations.
func (s *Server) ClearFaults() { s.faults.clear() }

// takeFault returns the fault that a request meets, nil for none.
func (s *Server) takeFault(r *exchange.Route) *Fault {
	return s.faults.take(r.Name(), func(f Fault) bool { return f.kind != faultExpireToken || !r.Open })
}
