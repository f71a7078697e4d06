package prepaid

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid/internal/envelope"
)

// PINService changes PINs. Use [Client].PIN. The reference specifies neither status nor body: 200, 201, 202 and 204 are successes.
type PINService struct{ client *Client }

// InitiatePINParams starts a PIN change; every field is required.
type InitiatePINParams struct {
	AccountID AccountID `json:"eaid"`                         // the EAID
	DeviceID  string    `json:"device_id"`                    // the cardholder's device
	IPAddress string    `json:"ip_address" redact:"personal"` // the cardholder's IP address
	// CommunicationMethod is how the one-time password is sent. The reference does not list its values: ask the operator.
	CommunicationMethod string `json:"communication_method"`
}

func (p InitiatePINParams) check(v *validator) {
	v.required("eaid", string(p.AccountID))
	v.required("device_id", p.DeviceID)
	v.required("ip_address", p.IPAddress)
	v.required("communication_method", p.CommunicationMethod)
}

// Initiate starts a PIN change: the service sends the cardholder a one-time password. After [OutcomeUnknown] start again: a second password
// may arrive. Safety: never repeated. API: POST /pin/initiate.
func (s *PINService) Initiate(ctx context.Context, params InitiatePINParams) (*RawResponse, error) {
	var v validator
	params.check(&v)
	return s.post(ctx, request{op: opPINInitiate, account: params.AccountID, faults: v.faults}.with(params))
}

// SealedPINParams is for [PINService.Validate] and [PINService.Execute]; every field is required.
type SealedPINParams struct {
	OperationID string `json:"operation_id"`                 // a UUID, from the response to Initiate; the reference does not name the member
	DeviceID    string `json:"device_id"`                    // the cardholder's device
	IPAddress   string `json:"ip_address" redact:"personal"` // the cardholder's IP address
	// Envelope is the result of PINKey.Seal; use each envelope once. In the request, its members are next to the other fields.
	Envelope *PINEnvelope `json:"envelope"`
}

func (p SealedPINParams) check(v *validator) {
	v.uuid("operation_id", p.OperationID)
	v.required("device_id", p.DeviceID)
	v.required("ip_address", p.IPAddress)
	if p.Envelope == nil {
		v.fault("envelope", ruleRequired)
	} else {
		v.faults = append(v.faults, p.Envelope.faults("")...)
	}
}

// Validate checks the one-time password. Errors and safety: as [PINService.Execute]. API: POST /pin/validate.
func (s *PINService) Validate(ctx context.Context, params SealedPINParams) (*RawResponse, error) {
	return s.sealed(ctx, opPINValidate, params)
}

// Execute changes the PIN. After [OutcomeUnknown] the cardholder has to try the card. Safety: never repeated. API: POST /pin/execute.
func (s *PINService) Execute(ctx context.Context, params SealedPINParams) (*RawResponse, error) {
	return s.sealed(ctx, opPINExecute, params)
}

func (s *PINService) sealed(ctx context.Context, op operation, params SealedPINParams) (*RawResponse, error) {
	v := s.client.validator()
	params.check(&v)
	body := struct {
		OperationID string `json:"operation_id"`
		DeviceID    string `json:"device_id"`
		IPAddress   string `json:"ip_address"`
		*PINEnvelope
	}{params.OperationID, params.DeviceID, params.IPAddress, params.Envelope}
	return s.post(ctx, request{op: op, faults: v.faults}.with(body))
}

func (s *PINService) post(ctx context.Context, r request) (*RawResponse, error) {
	return receive(ctx, s.client, r, func(a *response) (*RawResponse, error) {
		if len(bytes.TrimSpace(a.body)) > 0 && !a.fromService() {
			return nil, a.undecodable(errUnexpectedBody)
		}
		return a.copied(), nil
	})
}

// PINHash names the hash of RSA-OAEP, as in oaep_hashing_algorithm. Empty means PINHashSHA256, both in PINKeyOptions and in an envelope.
type PINHash string

const (
	PINHashSHA256 PINHash = "SHA256" // the default
	PINHashSHA512 PINHash = "SHA512"
)

const rulePINHash = "must be SHA256 or SHA512"

// PINKeyOptions set details that the service does not specify. The zero value is the usual choice. Ask the operator before you change it.
type PINKeyOptions struct {
	Hash PINHash // the OAEP hash: PINHashSHA256 if empty; the envelope always names it
	// MGF1Hash is the hash of OAEP's mask function: "SHA1", "SHA256" or "SHA512"; the same as Hash if empty. The envelope does not contain it,
	// so both sides must agree. Java's default provider uses "SHA1", which a Go program in FIPS 140-only mode refuses.
	MGF1Hash string
	// Fingerprint returns the public_key_fingerprint of the certificate, never empty. Nil means SHA-256 of its DER form, in lower-case hex.
	Fingerprint func(*x509.Certificate) string
	// AllowExpired accepts a certificate that is expired or not yet valid. If false, NewPINKey and Seal refuse it.
	AllowExpired bool
}

// PINKey seals PINs for one operator certificate. It needs no Client: seal where the PIN is typed, so that your backend sees only
// envelopes. It holds only public data and is safe for concurrent use. Make it with NewPINKey.
type PINKey struct {
	sealer       envelope.Key
	hash         PINHash
	fingerprint  string
	notBefore    time.Time
	notAfter     time.Time
	allowExpired bool
}

// NewPINKey reads the operator's certificate, in PEM or DER form, for sealing. From a PEM file it takes the first CERTIFICATE block and
// skips other blocks. Every block must be well-formed, with only white space after the last, so that a damaged certificate is never skipped
// in favour of the next one. The key must be RSA of at least 2,048 bits. The certificate must be valid now, unless
// PINKeyOptions.AllowExpired is set. The issuer's signature is not checked: get the file from the operator through a trusted channel.
// Errors: *ValidationError on certificate, hash, mgf1_hash and fingerprint.
func NewPINKey(certificate []byte, options PINKeyOptions) (*PINKey, error) {
	var v validator
	var public *rsa.PublicKey
	key := &PINKey{hash: cmp.Or(options.Hash, PINHashSHA256), allowExpired: options.AllowExpired}
	parsed, rule := envelope.ParseCertificate(certificate)
	v.broken("certificate", rule)
	if parsed != nil {
		public, rule = envelope.PublicKey(parsed)
		v.broken("certificate", rule)
		key.notBefore, key.notAfter = parsed.NotBefore, parsed.NotAfter
		v.broken("certificate", key.validity())
	}
	if !Known(key.hash) {
		v.fault("hash", rulePINHash)
	}
	mgf1 := envelope.Hash(options.MGF1Hash)
	if mgf1 == 0 && options.MGF1Hash != "" {
		v.fault("mgf1_hash", "must be SHA1, SHA256 or SHA512")
	}
	if parsed != nil {
		key.fingerprint = pinFingerprint(&v, parsed, options.Fingerprint)
	}
	if len(v.faults) == 0 {
		key.sealer, rule = envelope.NewKey(public, envelope.Hash(string(key.hash)), mgf1)
		v.broken("certificate", rule)
	}
	if len(v.faults) > 0 {
		return nil, &ValidationError{Faults: v.faults}
	}
	return key, nil
}

// broken adds a fault for rule, the broken rule, unless rule is empty.
func (v *validator) broken(field, rule string) {
	if rule != "" {
		v.fault(field, rule)
	}
}

// pinFingerprint calls the caller's function, or computes the default. The value of a panic is dropped: it may contain anything.
func pinFingerprint(v *validator, certificate *x509.Certificate, by func(*x509.Certificate) string) (fingerprint string) {
	if by == nil {
		return envelope.Fingerprint(certificate)
	}
	defer func() {
		if recover() != nil {
			v.fault("fingerprint", "must come from a function that does not panic")
		}
	}()
	fingerprint = by(certificate)
	v.required("fingerprint", fingerprint) // you agree its format with the operator
	return fingerprint
}

// validity returns the rule that the certificate breaks now; NotBefore and NotAfter are both inclusive.
func (k *PINKey) validity() string {
	now := time.Now()
	switch {
	case k.allowExpired:
	case now.Before(k.notBefore):
		return "must already be valid"
	case now.After(k.notAfter):
		return "must not be expired"
	}
	return ""
}

// Fingerprint returns the envelopes' fingerprint, or "" for a zero PINKey.
func (k *PINKey) Fingerprint() string {
	if k == nil {
		return ""
	}
	return k.fingerprint
}

// NotAfter returns the last instant at which the certificate is valid, so that you can warn long before Seal refuses. For a zero PINKey it
// is zero.
func (k *PINKey) NotAfter() time.Time {
	if k == nil {
		return time.Time{}
	}
	return k.notAfter
}

// String returns the hash and the fingerprint, which are public.
func (k *PINKey) String() string {
	if !k.usable() {
		return "PINKey(none)"
	}
	return "PINKey(" + string(k.hash) + " " + k.fingerprint + ")"
}

// usable reports whether NewPINKey made k. Only such a key has a fingerprint.
func (k *PINKey) usable() bool { return k != nil && k.fingerprint != "" }

// PINSecret is the data to seal. Its fields print and marshal as [REDACTED].
type PINSecret struct {
	OTP Secret // the one-time password that the cardholder received; required
	PIN Secret // the new PIN; required; the service states no length or alphabet, so none is checked
}

// Seal encrypts secret with a new AES key and initialisation vector: two envelopes of one secret share only the fingerprint and the hash's
// name. Seal clears the buffers of the payload and the AES key as far as it can: the strings inside the Secrets, and copies in the crypto
// packages, remain until the garbage collector reuses the memory. The format has no integrity check (CBC without a MAC), so only the
// service can detect a change. Errors: *ValidationError on the fields otp and pin, and on certificate if NewPINKey would refuse it now or
// did not make the key. No error contains the secret.
func (k *PINKey) Seal(secret PINSecret) (*PINEnvelope, error) {
	var v validator
	if k.usable() {
		v.broken("certificate", k.validity())
	} else {
		v.fault("certificate", "must come from NewPINKey")
	}
	otp, pin := secret.OTP.Reveal(), secret.PIN.Reveal()
	v.required("otp", otp) // invalid UTF-8 is refused too: it would be sent as U+FFFD, which is another text
	v.required("pin", pin)
	if len(v.faults) > 0 {
		return nil, &ValidationError{Faults: v.faults}
	}
	sealed, err := k.sealer.Seal(otp, pin)
	if err != nil {
		return nil, fmt.Errorf("prepaid: sealing the PIN: %w", err)
	}
	return &PINEnvelope{
		EncryptedData:        sealed.Data,
		PublicKeyFingerprint: k.fingerprint,
		EncryptedKey:         sealed.Key,
		OAEPHashingAlgorithm: k.hash,
		IV:                   sealed.IV,
	}, nil
}

// PINEnvelope is an encrypted PINSecret. Only the operator's private key decrypts it: it is safe to marshal, log, store and forward.
type PINEnvelope struct {
	// EncryptedData is the payload, encrypted by AES-128-CBC with PKCS#7 padding, in hex: whole blocks of 16 bytes.
	EncryptedData        string `json:"encrypted_data"`
	PublicKeyFingerprint string `json:"public_key_fingerprint"` // of the operator's certificate, in the form agreed with the operator
	EncryptedKey         string `json:"encrypted_key"`          // the AES key, encrypted by RSA-OAEP, in hex: at least 256 bytes
	// OAEPHashingAlgorithm is the OAEP hash. PINKey.Seal always sets it. If empty, the member is not sent, and the hash is SHA256.
	OAEPHashingAlgorithm PINHash `json:"oaep_hashing_algorithm,omitzero"`
	IV                   string  `json:"iv"` // the initialisation vector of the payload, in hex: 16 bytes
}

// faults checks the format of an envelope, which may have been made elsewhere. If path is not empty, it precedes the field names. Only the
// service can check that the envelope decrypts.
func (e PINEnvelope) faults(path string) []FieldError {
	if path != "" {
		path += "."
	}
	var v validator
	v.hexBytes(path+"encrypted_data", e.EncryptedData, "must be one or more whole blocks of 16 bytes in hex",
		func(size int) bool { return size%envelope.BlockSize == 0 })
	v.required(path+"public_key_fingerprint", e.PublicKeyFingerprint)
	v.hexBytes(path+"encrypted_key", e.EncryptedKey, "must be at least 256 bytes in hex",
		func(size int) bool { return size >= envelope.MinWrapped })
	if e.OAEPHashingAlgorithm != "" && !Known(e.OAEPHashingAlgorithm) {
		v.fault(path+"oaep_hashing_algorithm", rulePINHash)
	}
	v.hexBytes(path+"iv", e.IV, "must be 16 bytes in hex",
		func(size int) bool { return size == envelope.BlockSize })
	return v.faults
}

// hexBytes checks a required value in upper-case or lower-case hex, and its number of bytes.
func (v *validator) hexBytes(field, value, rule string, fits func(size int) bool) {
	if !v.required(field, value) {
		return
	}
	if raw, err := hex.DecodeString(value); err != nil || !fits(len(raw)) {
		v.fault(field, rule)
	}
}
