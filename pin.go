package prepaid

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"

	"github.com/go-json-experiment/json"

	"github.com/cardprograms/prepaid/internal/redact"
)

// PINService changes PINs. It is reached through [Client].PIN; its zero value is not usable. The envelopes are made
// by [PINKey], which needs no client: seal where the PIN is typed.
type PINService struct{ client *Client }

// PINResponse is an answer whose shape the reference does not show. The zero value is none.
type PINResponse struct {
	// StatusCode is the HTTP status: 200, 201, 202 or 204.
	StatusCode int
	// Raw is the body as it came; not printed.
	Raw []byte `redact:"content"`
}

// Decode reads Raw as JSON into your own struct.
func (r *PINResponse) Decode(into any) error {
	if err := json.Unmarshal(r.Raw, into, callerOptions); err != nil {
		return &DecodeError{StatusCode: r.StatusCode, Err: errNotJSON}
	}
	return nil
}

// Format prints r without its body.
func (r PINResponse) Format(f fmt.State, verb rune) { redact.Format(f, verb, r) }

// LogValue logs r without its body.
func (r PINResponse) LogValue() slog.Value { return redact.LogValue(r) }

// InitiatePINParams starts a change; every field is required. The zero value lacks them.
type InitiatePINParams struct {
	// AccountID is the EAID.
	AccountID AccountID `json:"eaid"`
	// DeviceID is the cardholder's device.
	DeviceID string `json:"device_id"`
	// IPAddress is the cardholder's.
	IPAddress string `json:"ip_address" redact:"personal"`
	// CommunicationMethod is how the one-time password travels; its values are not in the reference: ask the operator.
	CommunicationMethod string `json:"communication_method"`
}

// Format prints p without the address.
func (p InitiatePINParams) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs p without the address.
func (p InitiatePINParams) LogValue() slog.Value { return redact.LogValue(p) }

func pinOperation(name, path string) operation {
	return operation{
		Operation: Operation{name, "POST", path},
		// The reference shows no status: these are taken as success.
		class: classNever, kind: responseRaw, success: []int{200, 201, 202, 204}, lane: LaneCall,
	}
}

var (
	opInitiatePIN = pinOperation("PIN.Initiate", "/pin/initiate")
	opValidatePIN = pinOperation("PIN.Validate", "/pin/validate")
	opExecutePIN  = pinOperation("PIN.Execute", "/pin/execute")
)

// Initiate starts a PIN change: the service sends the cardholder a one-time password. After [OutcomeUnknown] start
// anew with the cardholder; a second password may arrive.
//
// Errors: none of its own; the reference shows no statuses of the PIN operations. Safety: never repeated once it may have
// arrived.
//
// API: POST /pin/initiate.
func (s *PINService) Initiate(ctx context.Context, params InitiatePINParams) (*PINResponse, error) {
	var v validator
	v.accountID("eaid", params.AccountID)
	v.required("device_id", params.DeviceID)
	v.required("ip_address", params.IPAddress)
	v.required("communication_method", params.CommunicationMethod)
	return s.post(ctx, request{op: opInitiatePIN, account: params.AccountID, body: params, faults: v.faults})
}

// SealedPINParams is the input of Validate and Execute; every field is required. The zero value lacks them.
type SealedPINParams struct {
	// OperationID is a UUID, from the answer to Initiate.
	OperationID string `json:"operation_id"`
	// DeviceID is the cardholder's device.
	DeviceID string `json:"device_id"`
	// IPAddress is the cardholder's.
	IPAddress string `json:"ip_address" redact:"personal"`
	// Envelope is what PINKey.Seal made; each envelope is used once. Its members stand beside the others on the wire.
	Envelope PINEnvelope `json:"envelope"`
}

// Format prints p without the address.
func (p SealedPINParams) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs p without the address.
func (p SealedPINParams) LogValue() slog.Value { return redact.LogValue(p) }

// Validate checks the one-time password. Errors and safety: as [PINService.Execute].
//
// API: POST /pin/validate.
func (s *PINService) Validate(ctx context.Context, params SealedPINParams) (*PINResponse, error) {
	return s.sealed(ctx, opValidatePIN, params)
}

// Execute changes the PIN. After [OutcomeUnknown] the cardholder tries the card: which PIN counts cannot be read.
//
// Errors: none of its own; the reference shows no statuses of the PIN operations. Safety: never repeated once it may have
// arrived.
//
// API: POST /pin/execute.
func (s *PINService) Execute(ctx context.Context, params SealedPINParams) (*PINResponse, error) {
	return s.sealed(ctx, opExecutePIN, params)
}

func (s *PINService) sealed(ctx context.Context, op operation, params SealedPINParams) (*PINResponse, error) {
	var v validator
	v.uuid("operation_id", params.OperationID)
	v.required("device_id", params.DeviceID)
	v.required("ip_address", params.IPAddress)
	v.faults = append(v.faults, params.Envelope.faults("")...)
	body := struct {
		OperationID string `json:"operation_id"`
		DeviceID    string `json:"device_id"`
		IPAddress   string `json:"ip_address"`
		PINEnvelope
	}{params.OperationID, params.DeviceID, params.IPAddress, params.Envelope}
	return s.post(ctx, request{op: op, body: body, faults: v.faults})
}

func (s *PINService) post(ctx context.Context, r request) (*PINResponse, error) {
	result := &PINResponse{}
	err := s.client.do(ctx, &r, func(a *response) error {
		if len(bytes.TrimSpace(a.body)) > 0 && !a.fromService() {
			return a.undecodable(errUnexpectedBody)
		}
		result.StatusCode, result.Raw = a.status, bytes.Clone(a.body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}
