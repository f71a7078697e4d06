package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

// AnyOperation means every operation in Inject, the token endpoint included.
const AnyOperation = "*"

// Fault is one request gone wrong. Make one with a function of this package and arm it with Inject; it is then
// used once, unless Times, Always or WithProbability say otherwise. The zero Fault does nothing but count a
// request.
type Fault struct{ fault faults.Fault }

// CommitThenDrop carries the request out and then cuts the connection without a response: the money has moved
// and the caller does not know.
func CommitThenDrop() Fault { return Fault{faults.Fault{Kind: faults.CommitThenDrop}} }

// DropBeforeCommit reads the request and cuts the connection: nothing has happened, and the caller cannot
// distinguish this from CommitThenDrop.
func DropBeforeCommit() Fault { return Fault{faults.Fault{Kind: faults.DropBeforeCommit}} }

// Respond replies with status (200 to 999) and the service's error body holding code, without carrying the request
// out. With an empty code it is the one usual for the status.
func Respond(status int, code string) Fault {
	return Fault{faults.Fault{Kind: faults.Respond, Status: status, Code: code}}
}

// RespondBody replies with these bytes as they are, without carrying the request out. The status is 200 to 999; an
// empty contentType sends no such header.
func RespondBody(status int, contentType, body string) Fault {
	return Fault{faults.Fault{Kind: faults.RespondWith, Status: status, ContentType: contentType, Body: body}}
}

// ProxyPage replies with status (200 to 999) and an HTML page as a proxy on the way writes it, without carrying the
// request out.
func ProxyPage(status int) Fault { return Fault{faults.Fault{Kind: faults.ProxyPage, Status: status}} }

// TooManyRequests replies 429 with the code rate_limit_exceeded, without carrying the request out. Retry-After
// holds retryAfter in whole seconds, rounded up; zero sends no such header. With Times it is a storm.
func TooManyRequests(retryAfter time.Duration) Fault {
	return Fault{faults.Fault{Kind: faults.TooMany, Wait: retryAfter}}
}

// ExpireToken makes the access token that came with the request invalid and refuses the request as section 5 has
// it: 401, and so with every later request until another token is fetched. It is not for the token endpoint,
// which takes none: armed for AnyOperation it passes that one by.
func ExpireToken() Fault { return Fault{faults.Fault{Kind: faults.ExpireToken}} }

// Delay waits d of real time before the request is carried out, then responds as usual. The request is running all that
// time, also when its caller has left: a transfer with the same request_id that arrives meanwhile is carried out too.
func Delay(d time.Duration) Fault { return Fault{faults.Fault{Kind: faults.Delay, Wait: d}} }

// Truncate carries the request out, announces the whole response and cuts the connection in the middle of it.
func Truncate() Fault { return Fault{faults.Fault{Kind: faults.Truncate}} }

// SlowBody carries the request out and sends the whole body of the response 16 bytes at a time, with pause of real
// time between. It ends early when the caller leaves or the server closes.
func SlowBody(pause time.Duration) Fault {
	return Fault{faults.Fault{Kind: faults.SlowBody, Wait: pause}}
}

// SubstituteContentType carries the request out and sends the right body under another Content-Type, as some
// proxies do; an empty value sends no such header. A response without a body has none to substitute.
func SubstituteContentType(value string) Fault {
	return Fault{faults.Fault{Kind: faults.ContentType, ContentType: value}}
}

// WrongLength carries the request out and announces a Content-Length that is delta bytes more than the body has,
// or fewer when delta is negative (never below zero), sends the body and closes the connection.
func WrongLength(delta int) Fault { return Fault{faults.Fault{Kind: faults.WrongLength, Delta: delta}} }

// CommitAfter makes a fault that does not carry the request out do so all the same, d of real time after its response
// was sent or the connection was cut, d above 0: a gateway gives up, and the service continues. It is for DropBeforeCommit,
// Respond, RespondBody and ProxyPage, of any operation. Until then the request is still running, so that a transfer with
// the same request_id that arrives meanwhile moves the money a second time. A server that closes carries out running
// requests at once.
func (f Fault) CommitAfter(d time.Duration) Fault {
	f.fault.Late, f.fault.After = true, d
	return f
}

// Times makes a fault count n times, 1 or more. It undoes Always.
func (f Fault) Times(n int) Fault {
	f.fault.Repeat(n)
	return f
}

// Always makes a fault stay armed until RemoveFaults or ClearFaults. It undoes Times.
func (f Fault) Always() Fault {
	f.fault.Forever()
	return f
}

// WithProbability makes each matching request take the fault with probability p, above 0 and at most 1; one that
// does not is free for the next armed fault. Without Times the fault stays armed. RandomSeed makes the draws the same
// in each run.
func (f Fault) WithProbability(p float64) Fault {
	f.fault.Sometimes(p)
	return f
}

// Operations lists the emulator's operations, each as method and path template of the reference, for example
// "POST /accounts/{id}/transfer". These are the names that Inject takes and that Requests reports.
func Operations() []string { return service.Operations() }

// Inject arms faults for an operation, named as in Operations, for example "POST /accounts/{id}/transfer", or for
// AnyOperation. The next requests to it that carry a good token use them in the order armed, one each, those for
// the operation itself before those for any. A fault with Always keeps those after it waiting. An unknown
// operation and a number out of its range fail the test, and then nothing is armed.
func (s *Server) Inject(operation string, list ...Fault) {
	if s.tb != nil {
		s.tb.Helper()
	}
	if operation != AnyOperation && !s.routes.Has(operation) {
		s.fail("Inject: no operation has the given name; see Operations")
		return
	}
	armed := make([]faults.Fault, len(list))
	for i, fault := range list {
		if err := fault.fault.Check(); err != nil {
			s.fail("Inject: %v", err)
			return
		}
		if fault.fault.NeedsToken() && operation == service.TokenOperation {
			s.fail("Inject: ExpireToken is not for the token endpoint")
			return
		}
		armed[i] = fault.fault
	}
	s.faults.Arm(operation, armed...)
}

// FaultsLeft returns how many requests the armed faults will affect: one with Times counts as often as it has
// left, one without end counts once. A fault is no longer counted from the arrival of the request that it affects, before
// it delays or cuts anything: a test that needs a request in flight injects a Delay, and waits for this number to change.
func (s *Server) FaultsLeft() int { return s.faults.Count() }

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
	return each(s.faults.All(), func(one faults.Armed[faults.Fault]) ArmedFault {
		return ArmedFault{Operation: one.Name, Fault: Fault{one.Fault}, Used: one.Used, Left: one.Left}
	})
}

// RemoveFaults disarms the faults that were armed for operation; for AnyOperation those that were armed under it.
func (s *Server) RemoveFaults(operation string) { s.faults.Remove(operation) }

// ClearFaults disarms the faults of all operations.
func (s *Server) ClearFaults() { s.faults.Clear() }

// String is the form that ParseFault reads, for example "respond 503 x3".
func (f Fault) String() string { return f.fault.String() }

// FaultForms lists the forms that ParseFault reads, one a line with its effect, then the modifiers.
func FaultForms() []string { return faults.Forms() }

// ParseFault reads a fault in one of the FaultForms, for example "commit-then-drop", "respond 400 invalid_request"
// or "too-many-requests 2s x3". Words with spaces are quoted as in Go. Its errors name the word and the rule.
func ParseFault(text string) (Fault, error) {
	f, err := faults.Parse(text)
	return Fault{f}, err
}
