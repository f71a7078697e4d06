package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// initiation has every field.
func initiation(id prepaid.AccountID) prepaid.InitiatePINParams {
	return prepaid.InitiatePINParams{AccountID: id, DeviceID: "device-1", IPAddress: "203.0.113.7", CommunicationMethod: "sms"}
}

// pinResponse is the emulator's response; the reference shows nothing.
type pinResponse struct {
	OperationID string `json:"operation_id"`
	Status      string `json:"status"`
}

// initiatePIN starts a change and returns its operation id.
func (s *stage) initiatePIN(id prepaid.AccountID) string {
	s.t.Helper()
	started, err := s.client.PIN.Initiate(s.t.Context(), initiation(id))
	require.NoError(s.t, err)
	require.Equal(s.t, 200, started.StatusCode)
	var response pinResponse
	require.NoError(s.t, started.Decode(&response))
	require.Equal(s.t, "initiated", response.Status)
	return response.OperationID
}

// seal makes an envelope for the emulator's certificate.
func (s *stage) seal(options prepaid.PINKeyOptions, otp, pin string) *prepaid.PINEnvelope {
	s.t.Helper()
	key, err := prepaid.NewPINKey(s.PINCertificate(), options)
	require.NoError(s.t, err)
	envelope, err := key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(otp), PIN: prepaid.NewSecret(pin)})
	require.NoError(s.t, err)
	return envelope
}

// pinChange starts a change to 4921 and returns the params of its further steps, with every field.
func (s *stage) pinChange(id prepaid.AccountID, options prepaid.PINKeyOptions) prepaid.SealedPINParams {
	s.t.Helper()
	operation := s.initiatePIN(id)
	return prepaid.SealedPINParams{
		OperationID: operation, DeviceID: "device-1", IPAddress: "203.0.113.7", Envelope: s.seal(options, s.OTP(operation), "4921"),
	}
}

// pinStatus is the state in a response.
func (s *stage) pinStatus(params prepaid.SealedPINParams, call pinStep) string {
	s.t.Helper()
	response, err := call(s.t.Context(), params)
	require.NoError(s.t, err)
	require.Equal(s.t, 200, response.StatusCode)
	var answer pinResponse
	require.NoError(s.t, response.Decode(&answer))
	require.Equal(s.t, params.OperationID, answer.OperationID)
	return answer.Status
}

func TestE2EPINChange(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		for i, hash := range []prepaid.PINHash{"", prepaid.PINHashSHA256, prepaid.PINHashSHA512, prepaid.PINHashSHA256} {
			id := s.seed("0")
			params := s.pinChange(id, prepaid.PINKeyOptions{Hash: hash})
			if i == 3 {
				params.Envelope.OAEPHashingAlgorithm = "" // other makers of envelopes may omit it
			}
			require.Equal(t, "validated", s.pinStatus(params, s.client.PIN.Validate))
			require.Empty(t, s.PINOf(id))
			require.Equal(t, "executed", s.pinStatus(params, s.client.PIN.Execute))
			require.Equal(t, "4921", s.PINOf(id))

			_, err := s.client.PIN.Execute(t.Context(), params)
			refused(t, err, 400, "invalid_operation")
		}
		require.JSONEq(t, `{"eaid":"`+string(s.AccountIDs()[3])+`","device_id":"device-1","ip_address":"203.0.113.7","communication_method":"sms"}`,
			s.sent("POST /pin/initiate"))
	})
}
