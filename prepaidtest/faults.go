package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

// AnyOperation means every operation in Inject, including the token endpoint.
const AnyOperation = "*"

// Fault makes one request go wrong. Make it with a function of this package and arm it with Inject; it is then used
// once, unless Times, Always or WithProbability changes that. The zero Fault is used in the same way, without effect.
type Fault struct{ fault faults.Fault }

// CommitThenDrop carries the request out and then cuts the connection without a response: the money has
// moved, but the caller does not know it.
func CommitThenDrop() Fault { return Fault{faults.Fault{Kind: faults.CommitThenDrop}} }

// DropBeforeCommit reads the request and cuts the connection, without carrying the request out. The caller sees the same
// as after CommitThenDrop.
func DropBeforeCommit() Fault { return Fault{faults.Fault{Kind: faults.DropBeforeCommit}} }

// Respond replies with status (200 to 999) and the service's error body with code, without carrying the request
// out. An empty code means the usual code for the status.
func Respond(status int, code string) Fault {
	return Fault{faults.Fault{Kind: faults.Respond, Status: status, Code: code}}
}

// RespondBody replies with exactly this body, without carrying the request out. The status is 200 to 999; an empty
// contentType sends no header.
func RespondBody(status int, contentType, body string) Fault {
	return Fault{faults.Fault{Kind: faults.RespondWith, Status: status, ContentType: contentType, Body: body}}
}

// ProxyPage replies with status (200 to 999) and an HTML page like a proxy's, without carrying the request out.
func ProxyPage(status int) Fault { return Fault{faults.Fault{Kind: faults.ProxyPage, Status: status}} }

// TooManyRequests replies 429 with the code rate_limit_exceeded, without carrying the request out. Retry-After has
// retryAfter in whole seconds, rounded up; zero sends no header. For several 429 responses, use Times.
func TooManyRequests(retryAfter time.Duration) Fault {
	return Fault{faults.Fault{Kind: faults.TooMany, Wait: retryAfter}}
}

// ExpireToken makes the access token of the request invalid: the request, and each later request with that token,
// is refused with 401 (section 5). The token endpoint takes no token, so an ExpireToken for AnyOperation does not
// affect that endpoint.
func ExpireToken() Fault { return Fault{faults.Fault{Kind: faults.ExpireToken}} }

// Delay waits d of real time before the request is carried out, then responds as usual. The request runs all that time,
// even if its caller has left: a transfer with the same request_id that arrives meanwhile is carried out too.
func Delay(d time.Duration) Fault { return Fault{faults.Fault{Kind: faults.Delay, Wait: d}} }

// Truncate carries the request out, announces the whole response and cuts the connection in the middle of it.
func Truncate() Fault { return Fault{faults.Fault{Kind: faults.Truncate}} }

// SubstituteContentType carries the request out and sends the right body with another Content-Type, like some
// proxies; an empty value sends no header. A response without a body is not changed.
func SubstituteContentType(value string) Fault {
	return Fault{faults.Fault{Kind: faults.ContentType, ContentType: value}}
}

// CommitAfter makes the faults DropBeforeCommit, Respond, RespondBody and ProxyPage carry out the request, of any operation,
// later: d (above 0) of real time after the response was sent or the connection was cut. Such a fault is like a gateway that
// gives up while the service continues. The request runs until it is carried out: a transfer with the same request_id that
// arrives meanwhile moves the money a second time. A closing server carries out running requests at once.
func (f Fault) CommitAfter(d time.Duration) Fault {
	f.fault.Late, f.fault.After = true, d
	return f
}

// Times makes a fault apply to n requests; n is 1 or more. It undoes Always.
func (f Fault) Times(n int) Fault {
	f.fault.Repeat(n)
	return f
}

// Always makes a fault stay armed until RemoveFaults or ClearFaults. It undoes Times.
func (f Fault) Always() Fault {
	f.fault.Forever()
	return f
}

// WithProbability makes each matching request take the fault with probability p, above 0 and at most 1; otherwise it can
// take the next armed fault. Without Times the fault stays armed. RandomSeed makes the choices the same in each run.
func (f Fault) WithProbability(p float64) Fault {
	f.fault.Sometimes(p)
	return f
}

// Operations lists the emulator's operations, each as method and path template of the reference, for example
// "POST /accounts/{id}/transfer". Inject takes these names, and Requests reports them.
func Operations() []string { return service.Operations() }

// Inject arms faults for an operation, named as in Operations, for example "POST /accounts/{id}/transfer", or for
// AnyOperation. Each later request of this operation with a valid token uses one fault, in the order armed; faults
// for the operation itself come before faults for AnyOperation. Faults after a fault with Always wait until that fault is
// removed. An unknown operation or a number out of range fails the test, and nothing is armed.
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

// FaultsLeft returns how many requests the armed faults will affect: a fault with Times counts as often as it will be
// used, and a fault without limit counts as one. When a request that takes a fault arrives, the number decreases before
// any delay or cut: if a test needs a request in flight, inject a Delay and wait for this number to change.
func (s *Server) FaultsLeft() int { return s.faults.Count() }

// ArmedFault is a fault that waits to be used.
type ArmedFault struct {
	// Operation is the operation given to Inject, which may be AnyOperation.
	Operation string
	// Fault is the fault with its modifiers.
	Fault Fault
	// Used is how many requests took the fault.
	Used int
	// Left is how many more requests will take the fault; -1 means no limit.
	Left int
}

// Faults returns the armed faults in the order armed.
func (s *Server) Faults() []ArmedFault {
	return each(s.faults.All(), func(one faults.Armed) ArmedFault {
		return ArmedFault{Operation: one.Name, Fault: Fault{one.Fault}, Used: one.Used, Left: one.Left}
	})
}

// RemoveFaults disarms the faults armed for exactly this operation. AnyOperation removes only the faults armed for AnyOperation.
func (s *Server) RemoveFaults(operation string) { s.faults.Remove(operation) }

// ClearFaults disarms the faults of all operations.
func (s *Server) ClearFaults() { s.faults.Clear() }

// String is the form that ParseFault reads, for example "respond 503 x3".
func (f Fault) String() string { return f.fault.String() }

// FaultForms lists the forms that ParseFault reads, each with its effect, then the modifiers.
func FaultForms() []string { return faults.Forms() }

// ParseFault reads a fault in one of the FaultForms, for example "commit-then-drop", "respond 400 invalid_request"
// or "too-many-requests 2s x3". Words with spaces are quoted as in Go. Errors name the wrong word and the broken rule.
func ParseFault(text string) (Fault, error) {
	f, err := faults.Parse(text)
	return Fault{f}, err
}
