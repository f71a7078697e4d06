package prepaidtest

import (
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPINChanges(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, OTPLifetime: time.Minute, PINTries: 1})
	id, other := c.AddAccount(SeedAccount{}), c.AddAccount(SeedAccount{})
	initiate := func(account string) string {
		return c.post("pin/initiate", `{"device_id":"d","ip_address":"i","communication_method":"sms","eaid":"`+account+`"}`).object()["operation_id"].(string)
	}
	require.Empty(t, c.PINChanges(id))
	first := initiate(id)
	c.Advance(time.Second)
	second := initiate(id)
	initiate(other)

	got := c.PINChanges(id)
	require.Len(t, got, 2)
	require.Equal(t, PINChange{OperationID: first, OTP: c.OTP(first), DeviceID: "d", ExpiresAt: c.Now().Add(59 * time.Second)}, got[0])
	require.Equal(t, second, got[1].OperationID)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(verb, got)
		require.NotContains(t, text, got[0].OTP)
		require.Contains(t, text, first)
	}

	certificate := c.PINCertificate()
	block, _ := pem.Decode(certificate)
	sum := sha256.Sum256(block.Bytes)
	require.Equal(t, hex.EncodeToString(sum[:]), c.PINFingerprint())
	c.post("pin/execute", body(t, `{"device_id":"d","ip_address":"i","operation_id":"`+second+`"}`,
		seal(t, certificate, crypto.SHA256, "SHA256", `{"otp":"`+c.OTP(second)+`","pin":"1234"}`))).ok()
	require.Len(t, c.PINChanges(id), 1, "what is finished is not pending")
	c.Advance(59 * time.Second)
	require.Empty(t, c.PINChanges(id), "what has expired is not pending")
}
