package page

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// wantsJSON reports whether the caller is a program, which names the type; no browser does.
func wantsJSON(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(line, ",") {
			if kind, _, err := mime.ParseMediaType(one); err == nil && kind == "application/json" {
				return true
			}
		}
	}
	return false
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // the reader has gone away
}

type problemJSON struct {
	Error string `json:"error"`
}

type clockJSON struct {
	Now time.Time `json:"now"`
}

func clockOf(server *prepaidtest.Server) clockJSON { return clockJSON{server.Now().UTC()} }

type accountJSON struct {
	ID         prepaid.AccountID `json:"account_id"`
	Status     string            `json:"status"`
	Balance    json.Number       `json:"balance"`
	PINSet     bool              `json:"pin_set"`
	PINChanges []pinChangeJSON   `json:"pin_changes"`
}

type pinChangeJSON struct {
	OperationID string    `json:"operation_id"`
	OTP         string    `json:"otp"`
	DeviceID    string    `json:"device_id"`
	ExpiresAt   time.Time `json:"expires_at"`
}

func accountOf(server *prepaidtest.Server, id prepaid.AccountID) accountJSON {
	a := server.Account(id)
	state := accountJSON{a.ID, a.Status, json.Number(a.Balance), a.PINSet, []pinChangeJSON{}}
	for _, change := range server.PINChanges(id) {
		state.PINChanges = append(state.PINChanges, pinChangeJSON(change))
	}
	return state
}

type faultsJSON struct {
	Faults         []faultJSON `json:"faults"`
	DeliveryFaults []faultJSON `json:"delivery_faults"`
}

// faultJSON has Left -1 for a fault without end.
type faultJSON struct {
	Operation string         `json:"operation,omitzero"`
	HookID    prepaid.HookID `json:"hook_id,omitzero"`
	Fault     string         `json:"fault"`
	Used      int            `json:"used"`
	Left      int            `json:"left"`
}

func faultsOf(server *prepaidtest.Server) faultsJSON {
	state := faultsJSON{Faults: []faultJSON{}, DeliveryFaults: []faultJSON{}}
	for _, a := range server.Faults() {
		state.Faults = append(state.Faults, faultJSON{Operation: a.Operation, Fault: a.Fault.String(), Used: a.Used, Left: a.Left})
	}
	for _, a := range server.DeliveryFaults() {
		state.DeliveryFaults = append(state.DeliveryFaults, faultJSON{HookID: a.HookID, Fault: a.Fault.String(), Used: a.Used, Left: a.Left})
	}
	return state
}
