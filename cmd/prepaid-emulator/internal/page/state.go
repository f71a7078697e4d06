package page

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// wantsJSON reports whether the caller is a program: browsers do not request JSON.
func wantsJSON(r *http.Request) bool { return accepts(r, "application/json") }

// accepts reports whether the request's Accept header names a type. Browsers name text/html.
func accepts(r *http.Request, wanted string) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		if kind, _, err := mime.ParseMediaType(one); err == nil && kind == wanted {
			return true
		}
	}
	return false
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // fails if the reader has disconnected
}

// fail responds with a reason: in JSON to a program, else in plain text.
func fail(w http.ResponseWriter, r *http.Request, status int, problem string) {
	if wantsJSON(r) {
		writeJSON(w, status, map[string]string{"error": problem})
		return
	}
	http.Error(w, problem, status)
}

func (in input) clock() any { return map[string]time.Time{"now": in.server.Now().UTC()} }

type accountJSON struct {
	ID         prepaid.AccountID `json:"account_id"`
	Status     string            `json:"status"`
	Balance    json.Number       `json:"balance"`
	PINSet     bool              `json:"pin_set"`
	PINChanges []pinChangeJSON   `json:"pin_changes"`
	// Authorizations are the simulated card transactions, oldest first.
	Authorizations []authorizationJSON `json:"authorizations"`
}

type authorizationJSON struct {
	ID     string      `json:"authorization_id"`
	Type   string      `json:"transaction_type"`
	Amount json.Number `json:"amount"`
	State  string      `json:"state"`
}

type pinChangeJSON struct {
	OperationID string    `json:"operation_id"`
	OTP         string    `json:"otp"`
	DeviceID    string    `json:"device_id"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// each converts a list. In JSON the result is never null.
func each[From, To any](list []From, convert func(From) To) []To {
	converted := make([]To, len(list))
	for i, one := range list {
		converted[i] = convert(one)
	}
	return converted
}

func (in input) account() any {
	a := in.server.Account(in.id)
	return accountJSON{
		a.ID, a.Status, json.Number(a.Balance), a.PINSet,
		each(in.server.PINChanges(in.id), func(change prepaidtest.PINChange) pinChangeJSON {
			return pinChangeJSON{change.OperationID, change.OTP, change.DeviceID, change.ExpiresAt}
		}),
		each(in.server.Authorizations(in.id), func(made prepaidtest.Authorization) authorizationJSON {
			return authorizationJSON{made.ID, made.Type, json.Number(made.Amount), made.State}
		}),
	}
}

// faultJSON has Left -1 for an endless fault.
type faultJSON struct {
	Operation string         `json:"operation,omitzero"`
	HookID    prepaid.HookID `json:"hook_id,omitzero"`
	Fault     string         `json:"fault"`
	Used      int            `json:"used"`
	Left      int            `json:"left"`
}

type faultsJSON struct {
	Faults         []faultJSON `json:"faults"`
	DeliveryFaults []faultJSON `json:"delivery_faults"`
}

func (in input) faults() any {
	return faultsJSON{each(in.server.Faults(), faultOf), each(in.server.DeliveryFaults(), deliveryFaultOf)}
}

func faultOf(a prepaidtest.ArmedFault) faultJSON {
	return faultJSON{Operation: a.Operation, Fault: a.Fault.String(), Used: a.Used, Left: a.Left}
}

func deliveryFaultOf(a prepaidtest.ArmedDeliveryFault) faultJSON {
	return faultJSON{HookID: a.HookID, Fault: a.Fault.String(), Used: a.Used, Left: a.Left}
}

type transfersJSON struct {
	Armed     []faultJSON         `json:"armed"`
	Running   []runningJSON       `json:"running"`
	PaidTwice []prepaid.RequestID `json:"paid_twice"`
}

// runningJSON has the milliseconds since arrival and until execution.
type runningJSON struct {
	Operation string            `json:"operation"`
	RequestID prepaid.RequestID `json:"request_id,omitzero"`
	AccountID prepaid.AccountID `json:"account_id"`
	AgeMS     int64             `json:"age_ms"`
	LeftMS    int64             `json:"left_ms"`
}

// heldOperations are the operations with a request ID.
func heldOperations() []string {
	return []string{"POST /accounts/{id}/transfer", "POST /accounts/{id}/directentryout"}
}

func (in input) transfers() any {
	armed := slices.DeleteFunc(in.server.Faults(), func(a prepaidtest.ArmedFault) bool { return !slices.Contains(heldOperations(), a.Operation) })
	running := each(in.server.RunningTransfers(), func(r prepaidtest.RunningTransfer) runningJSON {
		return runningJSON{r.Operation, r.RequestID, r.AccountID, r.Age.Milliseconds(), r.Left.Milliseconds()}
	})
	return transfersJSON{each(armed, faultOf), running, append([]prepaid.RequestID{}, in.server.PaidTwice()...)}
}
