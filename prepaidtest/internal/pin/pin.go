// Package pin carries out PIN changes: it opens the envelope, checks the one-time password and sets the PIN.
//
// PINs keeps the pending changes and the operator's key pair, which is made when it is first needed. Both are under the lock
// of the ledger. Errors name the wrong part of an envelope and never quote it.
package pin

import (
	"cmp"
	"crypto"
	"crypto/subtle"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// PINs carries out PIN changes. The ledger's lock guards it.
type PINs struct {
	ledger *ledger.Ledger
	clock  *clock.Clock
	ids    *ids.Source
	with   Options
	key    func() (*Identity, error) // makes the identity when it is first needed

	changes  map[string]*state.PINChange
	identity *Identity // nil until it is made
}

// Options are the choices that the reference leaves open about PIN changes.
type Options struct {
	OTPLifetime time.Duration
	MGF1        crypto.Hash // of OAEP's mask function; 0: the envelope's hash
}

// New makes the PIN operations.
func New(books *ledger.Ledger, c *clock.Clock, from *ids.Source, with Options) *PINs {
	s := &PINs{ledger: books, clock: c, ids: from, with: with, changes: make(map[string]*state.PINChange)}
	s.key = sync.OnceValues(s.makeIdentity)
	return s
}

// pinBody is the response by the emulator's choice, since the reference shows none. The status is initiated, validated
// or executed.
type pinBody struct {
	OperationID string `json:"operation_id"`
	Status      string `json:"status"`
}

// Initiate handles POST /pin/initiate. The cardholder must have a mobile number and an e-mail address (2.3). Any
// communication_method is accepted: the reference shows no values.
func (s *PINs) Initiate(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[struct {
		Account string `json:"eaid"`
		Device  string `json:"device_id"`
	}](c)
	if refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	a := l.Account(in.Account)
	if a == nil {
		return c.AccountNotFound()
	}
	if a.Cardholder.MobileNumber == "" || a.Cardholder.EmailAddress == "" {
		return c.Unusable("the registration needs mobile_number and email_address")
	}
	now := s.clock.Now()
	for id, old := range s.changes {
		if !now.Before(old.ExpiresAt) {
			delete(s.changes, id)
		}
	}
	id := s.ids.UUID()
	s.changes[id] = &state.PINChange{OperationID: id, AccountID: a.ID, DeviceID: in.Device, OTP: s.ids.Digits(6), ExpiresAt: now.Add(s.with.OTPLifetime).UTC()}
	return c.JSON(http.StatusOK, pinBody{id, "initiated"})
}

// Validate handles POST /pin/validate: it opens the envelope and checks the one-time password.
func (s *PINs) Validate(c *exchange.Call) exchange.Response {
	return s.sealedPIN(c, func(_ ledger.Locked, id string, _ *state.PINChange, _ string) exchange.Response {
		return c.JSON(http.StatusOK, pinBody{id, "validated"})
	})
}

// Execute handles POST /pin/execute: it checks as Validate does and sets the PIN, once per operation. It does
// not require a previous Validate.
func (s *PINs) Execute(c *exchange.Call) exchange.Response {
	return s.sealedPIN(c, func(l ledger.Locked, id string, change *state.PINChange, pin string) exchange.Response {
		change.Finished = true
		l.Account(string(change.AccountID)).PIN = pin
		return c.JSON(http.StatusOK, pinBody{id, "executed"})
	})
}

func (s *PINs) sealedPIN(c *exchange.Call, use func(l ledger.Locked, id string, change *state.PINChange, pin string) exchange.Response) exchange.Response {
	in, refusal := exchange.Body[struct {
		Device string `json:"device_id"`
		ID     string `json:"operation_id"`
		envelope
	}](c)
	if refusal != nil {
		return *refusal
	}
	identity, err := s.key()
	if err != nil {
		return c.Refuse(http.StatusInternalServerError, "server_error", "")
	}
	otp, pin, err := in.open(identity, s.with.MGF1)
	if err != nil {
		return c.Refuse(http.StatusBadRequest, "invalid_envelope", err.Error())
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	change := s.changes[in.ID]
	switch {
	case change == nil || change.Finished || !s.clock.Now().Before(change.ExpiresAt):
		return c.Refuse(http.StatusBadRequest, "invalid_operation", "operation_id is unknown, finished or expired")
	case change.DeviceID != in.Device:
		return c.Refuse(http.StatusBadRequest, "invalid_device", "device_id is not that of the operation")
	case subtle.ConstantTimeCompare([]byte(change.OTP), []byte(otp)) != 1:
		return c.Refuse(http.StatusBadRequest, "invalid_otp", "the one-time password is wrong")
	}
	return use(l, in.ID, change, pin)
}

// OTP returns the one-time password of a PIN change by its operation_id.
func (s *PINs) OTP(_ ledger.View, id string) (otp string, known bool) {
	change := s.changes[id]
	if change == nil {
		return "", false
	}
	return change.OTP, true
}

// Identity returns the operator's key pair with its certificate.
func (s *PINs) Identity() (*Identity, error) { return s.key() }

// Pending returns the PIN changes of an account that are neither finished nor expired, sorted by expiry.
func (s *PINs) Pending(_ ledger.View, eaid state.AccountID, now time.Time) []state.PINChange {
	var list []state.PINChange
	for _, change := range s.changes {
		if change.AccountID == eaid && !change.Finished && now.Before(change.ExpiresAt) {
			list = append(list, *change)
		}
	}
	slices.SortFunc(list, func(a, b state.PINChange) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.OperationID, b.OperationID))
	})
	return list
}
