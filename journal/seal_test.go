package journal_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// canaries are texts that must never appear in clear.
var canaries = []string{"SECRETREF", "SECRETDEST", "CANARY J CITIZEN", "98765432109", "SECRETUSER", "082001"}

func canaryTransfer() prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: "r-1", Amount: prepaid.MustAmount("25.50"), SourceReference: "SECRETREF", DestinationReference: "SECRETREF",
		DestinationAccountID: "SECRETDEST", InitiatorUsername: "SECRETUSER", Type: prepaid.TransferTypeLoad,
	}
}

func canaryDirectEntry() prepaid.DirectEntryOutParams {
	return prepaid.DirectEntryOutParams{
		RequestID: "r-2", Amount: prepaid.MustAmount("99.00"), SourceReference: "SECRETREF", DestinationReference: "SECRETREF",
		Destination: prepaid.BankAccount{BSB: "082001", AccountNumber: "98765432109", AccountName: "CANARY J CITIZEN"},
		BSB:         "082001", InitiatingUserID: "SECRETUSER",
	}
}

var digestKey = prepaid.NewSecret("digest key")

func key(fill byte) []byte { return bytes.Repeat([]byte{fill}, 32) }

func aead(t testing.TB, keys ...[]byte) journal.AEAD {
	t.Helper()
	made, err := journal.NewAEAD(keys[0], keys[1:]...)
	require.NoError(t, err)
	return made
}

func entry(t testing.TB, params prepaid.PaymentParams) journal.Entry {
	t.Helper()
	e, err := journal.NewEntry(digestKey, "payer", params)
	require.NoError(t, err)
	return e
}

func sealed(t testing.TB, e journal.Entry, a journal.AEAD, params prepaid.PaymentParams) []byte {
	t.Helper()
	data, err := e.Seal(a, params)
	require.NoError(t, err)
	return data
}

func requireNoCanary(t *testing.T, text string) {
	t.Helper()
	for _, canary := range canaries {
		require.NotContains(t, text, canary)
	}
}

func TestSealedParamsComeBack(t *testing.T) {
	t.Parallel()
	a := aead(t, key(1))
	transfer, directEntry := canaryTransfer(), canaryDirectEntry()
	for _, want := range []prepaid.PaymentParams{transfer, directEntry} {
		e := entry(t, want)
		data := sealed(t, e, a, want)
		requireNoCanary(t, string(data))
		plain, err := json.Marshal(want)
		require.NoError(t, err)
		require.Len(t, data, len(plain)+33)
		require.NotEqual(t, data, sealed(t, e, a, want), "a nonce of its own")
		opened, err := e.Open(a, digestKey, data)
		require.NoError(t, err)
		require.Equal(t, want, opened)
	}
	transfer.LastSent = time.Now() // not part of the payment
	e := entry(t, transfer)
	opened, err := e.Open(a, digestKey, sealed(t, e, a, transfer))
	require.NoError(t, err)
	require.Equal(t, canaryTransfer(), opened)
}

// The sealed form is a key ID, a nonce and AES-256-GCM. The test opens it without this package.
func TestSealedFormat(t *testing.T) {
	t.Parallel()
	data, err := aead(t, key(7)).Encrypt([]byte("text"), []byte("context"))
	require.NoError(t, err)
	block, err := aes.NewCipher(key(7))
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	require.Equal(t, byte(1), data[0])
	text, err := gcm.Open(nil, data[5:17], data[17:], []byte("context"))
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
}

func TestKeysRotate(t *testing.T) {
	t.Parallel()
	params := canaryTransfer()
	e := entry(t, params)
	old, rotated := aead(t, key(1)), aead(t, key(2), key(1))
	before := sealed(t, e, old, params)
	opened, err := e.Open(rotated, digestKey, before)
	require.NoError(t, err)
	require.Equal(t, params, opened)
	after := sealed(t, e, rotated, params)
	_, err = e.Open(old, digestKey, after)
	require.ErrorIs(t, err, journal.ErrKey, "sealed with the new key")
	require.NotErrorIs(t, err, journal.ErrSealed)
	for _, size := range []int{0, 16, 31, 33} {
		for _, keys := range [][][]byte{{make([]byte, size)}, {key(1), make([]byte, size)}} {
			_, err = journal.NewAEAD(keys[0], keys[1:]...)
			invalid, ok := errors.AsType[*prepaid.ValidationError](err)
			require.True(t, ok)
			require.Equal(t, []prepaid.FieldError{{Field: "key", Rule: "must have 32 bytes"}}, invalid.Faults)
		}
	}
}

// Sealed params open only with the payment that they were sealed for.
func TestSealedParamsCannotBeMoved(t *testing.T) {
	t.Parallel()
	a, params := aead(t, key(1)), canaryTransfer()
	e := entry(t, params)
	data := sealed(t, e, a, params)
	other := params
	other.RequestID = "r-9"
	elsewhere, err := journal.NewEntry(digestKey, "another", params)
	require.NoError(t, err)
	changed := params
	changed.DestinationAccountID = "mine"
	for name, row := range map[string]journal.Entry{
		"another request id": entry(t, other), "another account": elsewhere, "other digests": entry(t, changed),
		"another operation": func() journal.Entry { e := e; e.Operation = "Accounts.DirectEntryOut"; return e }(),
	} {
		_, err := row.Open(a, digestKey, data)
		require.ErrorIs(t, err, journal.ErrSealed, name)
		requireNoCanary(t, err.Error())
	}
	_, err = e.Open(a, prepaid.NewSecret("another digest key"), data)
	require.ErrorIs(t, err, journal.ErrSealed)
	_, err = e.Open(a, digestKey, nil)
	require.ErrorIs(t, err, journal.ErrNoParams)
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			_, err := e.Open(a, digestKey, data)
			data[i] ^= 1 << bit
			require.Error(t, err)
			require.Equal(t, i >= 1 && i < 5, errors.Is(err, journal.ErrKey), "byte %d", i)
		}
	}
	for cut := range data {
		_, err := e.Open(a, digestKey, data[:cut])
		require.Error(t, err)
	}
}

// Open accepts only the JSON of this payment and operation, even if the AEAD authenticates nothing.
func TestOpenedParamsAreCompared(t *testing.T) {
	t.Parallel()
	e := entry(t, canaryTransfer())
	good, err := json.Marshal(canaryTransfer())
	require.NoError(t, err)
	_, err = e.Open(trusting{}, digestKey, good)
	require.NoError(t, err)
	for _, text := range []string{"{}", "null", "{", `{"request_id":7}`, strings.Replace(string(good), "25.50", "25.51", 1), strings.Replace(string(good), "r-1", "r-3", 1)} {
		_, err := e.Open(trusting{}, digestKey, []byte(text))
		require.ErrorIs(t, err, journal.ErrSealed, text)
		requireNoCanary(t, err.Error())
	}
	e.Operation = "Funding.Redeem"
	_, err = e.Open(trusting{}, digestKey, good)
	require.ErrorIs(t, err, journal.ErrSealed)
}

// trusting neither encrypts nor authenticates.
type trusting struct{}

func (trusting) Encrypt(plaintext, _ []byte) ([]byte, error)  { return plaintext, nil }
func (trusting) Decrypt(ciphertext, _ []byte) ([]byte, error) { return ciphertext, nil }

var errKMS = errors.New("kms is away")

type away struct{}

func (away) Encrypt(_, _ []byte) ([]byte, error) { return nil, errKMS }
func (away) Decrypt(_, _ []byte) ([]byte, error) { return nil, errKMS }

func TestAEADThatFails(t *testing.T) {
	t.Parallel()
	e := entry(t, canaryDirectEntry())
	_, err := e.Seal(away{}, canaryDirectEntry())
	require.ErrorIs(t, err, errKMS)
	_, err = e.Open(away{}, digestKey, []byte("x"))
	require.ErrorIs(t, err, errKMS)
}

// No text that a program may print by mistake has key or params.
func TestNothingPrintsKeysOrParams(t *testing.T) {
	t.Parallel()
	secret := []byte("KEYKEYKEYKEYKEYKEYKEYKEYKEYKEYKE")
	a := aead(t, secret)
	params := canaryDirectEntry()
	e := entry(t, params)
	e.Sealed = sealed(t, e, a, params)
	workers := journal.Workers{Seal: a, DigestKey: digestKey}
	var logged bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&logged, nil))
	for _, value := range []any{a, workers, &workers, e, &e, journal.Run{Before: e, Entry: e}} {
		log.Info("x", "value", value)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			text := fmt.Sprintf(verb, value)
			requireNoCanary(t, text)
			require.NotContains(t, text, "KEYKEY")
			require.NotContains(t, text, fmt.Sprintf("%x", secret[:4]))
			require.NotContains(t, text, "75 69 89 75 69 89")
		}
	}
	requireNoCanary(t, logged.String())
	require.NotContains(t, logged.String(), "KEYKEY")
}

func TestParamsMustBeValues(t *testing.T) {
	t.Parallel()
	for _, params := range []prepaid.PaymentParams{nil, &prepaid.TransferParams{}, &prepaid.DirectEntryOutParams{}} {
		_, err := journal.NewEntry(digestKey, "payer", params)
		_, ok := errors.AsType[*prepaid.ValidationError](err)
		require.True(t, ok)
		_, err = journal.Run{}.Send(t.Context(), nil, params)
		require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	}
	_, err := journal.NewEntry(digestKey, "payer", prepaid.TransferParams{Amount: prepaid.Amount{{50, 1}}})
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
}

func FuzzOpenSealed(f *testing.F) {
	a := aead(f, key(1))
	rows := []prepaid.PaymentParams{canaryTransfer(), canaryDirectEntry()}
	for _, params := range rows {
		e := entry(f, params)
		data := sealed(f, e, a, params)
		plain, err := json.Marshal(params)
		require.NoError(f, err)
		f.Add(data, plain)
		f.Add(data[:20], []byte("{}"))
	}
	f.Fuzz(func(t *testing.T, data, plain []byte) {
		for _, params := range rows {
			e := entry(t, params)
			if opened, err := e.Open(a, digestKey, data); err == nil {
				require.Equal(t, params, opened)
			} else {
				require.True(t, errors.Is(err, journal.ErrKey) || errors.Is(err, journal.ErrSealed) || len(data) == 0)
			}
			if opened, err := e.Open(trusting{}, digestKey, plain); err == nil {
				again, err := journal.NewEntry(digestKey, "payer", opened)
				require.NoError(t, err)
				require.NoError(t, e.Match(again), "whatever opens is this payment")
				require.NoError(t, opened.Validate())
			}
		}
	})
}
