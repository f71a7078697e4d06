package prepaidtest

import (
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// pinChange is a PIN change under way.
type pinChange struct {
	account  string
	device   string
	otp      string
	expires  time.Time
	finished bool
}

// pinBody is this emulator's own answer, since the reference shows none: {"operation_id": …, "status": …} with
// status initiated, validated or executed.
type pinBody struct {
	OperationID string `json:"operation_id"`
	Status      string `json:"status"`
}

// initiatePIN answers POST /pin/initiate. The cardholder must have a mobile number and an e-mail address (2.3).
// Any communication_method is taken: the reference shows no values.
func (s *Server) initiatePIN(c *exchange.Call) exchange.Response {
	var eaid, device, address, method string
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("eaid", &eaid).Required()
		b.String("device_id", &device).Required()
		b.String("ip_address", &address).Required()
		b.String("communication_method", &method).Required()
	}); refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[eaid]
	if a == nil {
		return c.AccountNotFound()
	}
	if a.personal.MobileNumber == "" || a.personal.EmailAddress == "" {
		return c.Unusable("the registration needs mobile_number and email_address")
	}
	now := s.clock.Now()
	for id, old := range s.pinChanges {
		if !now.Before(old.expires) {
			delete(s.pinChanges, id)
		}
	}
	id := s.ids.UUID()
	s.pinChanges[id] = &pinChange{account: eaid, device: device, otp: s.ids.Digits(6), expires: now.Add(s.settings.otpLifetime)}
	return c.JSON(http.StatusOK, pinBody{id, "initiated"})
}

// validatePIN answers POST /pin/validate: it opens the envelope and checks the one-time password.
func (s *Server) validatePIN(c *exchange.Call) exchange.Response {
	return s.sealedPIN(c, func(id string, _ *pinChange, _ string) exchange.Response {
		return c.JSON(http.StatusOK, pinBody{id, "validated"})
	})
}

// executePIN answers POST /pin/execute: it checks the same and sets the PIN, once for an operation. It does not
// insist on a validation before.
func (s *Server) executePIN(c *exchange.Call) exchange.Response {
	return s.sealedPIN(c, func(id string, change *pinChange, pin string) exchange.Response {
		change.finished = true
		s.accounts[change.account].pin = pin
		return c.JSON(http.StatusOK, pinBody{id, "executed"})
	})
}

func (s *Server) sealedPIN(c *exchange.Call, use func(id string, change *pinChange, pin string) exchange.Response) exchange.Response {
	var device, address, id string
	var sealed envelope
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("device_id", &device).Required()
		b.String("ip_address", &address).Required()
		b.String("operation_id", &id).Required().Form(wire.IsUUID, "must be a UUID")
		sealed.bind(b)
	}); refusal != nil {
		return *refusal
	}
	identity, err := s.pinKey()
	if err != nil {
		return c.Refuse(http.StatusInternalServerError, "server_error", "")
	}
	otp, pin, err := sealed.open(identity, s.settings.pinMGF1)
	if err != nil {
		return c.Refuse(http.StatusBadRequest, "invalid_envelope", err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	change := s.pinChanges[id]
	switch {
	case change == nil || change.finished || !s.clock.Now().Before(change.expires):
		return c.Refuse(http.StatusBadRequest, "invalid_operation", "operation_id is unknown, finished or expired")
	case change.device != device:
		s.wrongTry(change)
		return c.Refuse(http.StatusBadRequest, "invalid_device", "device_id is not that of the operation")
	case subtle.ConstantTimeCompare([]byte(change.otp), []byte(otp)) != 1:
		s.wrongTry(change)
		return c.Refuse(http.StatusBadRequest, "invalid_otp", "the one-time password is wrong")
	}
	s.accounts[change.account].pinTries = 0
	return use(id, change, pin)
}

// wrongTry counts a wrong try (see PINTries). It needs s.mu.
func (s *Server) wrongTry(change *pinChange) {
	if s.settings.pinTries == 0 {
		return
	}
	a := s.accounts[change.account]
	if a.pinTries++; a.pinTries >= s.settings.pinTries {
		a.pinTries, a.status = 0, "inactive_pin_tries_exceeded"
		change.finished = true
	}
}

// OTP returns the one-time password that the cardholder would get for a PIN change, by its operation_id. An
// unknown operation fails the test.
func (s *Server) OTP(operationID string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	change := s.pinChanges[operationID]
	if change == nil {
		s.fail("OTP: the operation does not exist")
		return ""
	}
	return change.otp
}

// PINOf returns the PIN of an account, empty until one was set.
func (s *Server) PINOf(eaid string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if a := s.known(eaid); a != nil {
		return a.pin
	}
	return ""
}
