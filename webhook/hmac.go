package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// HMAC is a [Verifier] for HMAC-SHA256. The reference does not say how messages are signed, so nothing has a default:
// every field is required unless stated otherwise. An HMAC without a required field refuses every message.
type HMAC struct {
	// Header is the name of the header with the signature. If it occurs several times, or has several signatures with blanks in
	// between, one match is enough.
	Header string
	// Prefix precedes the sum in the header, such as "sha256="; a value without it does not match. Optional.
	Prefix string
	// Encoding is the encoding of the sum in the header.
	Encoding Encoding
	// KeyForm is the meaning of the 64 hex characters of a key.
	KeyForm KeyForm
	// Keys are the accepted keys, at least one when the [Handler] is created. A key that is not 64 hex characters is
	// skipped.
	Keys KeyRing
	// KeyID returns the key ID that the message names; only that key is tried. Optional: if nil, all keys are tried.
	KeyID func(header http.Header) string
	// SignedText returns the signed text. Optional: by default the body. Required with TimestampHeader: it must then
	// include the timestamp, otherwise an old message could be sent again with a new time.
	SignedText func(header http.Header, body []byte) []byte
	// TimestampHeader is the name of the header with the time of signing. Optional: if empty, signatures do not expire.
	TimestampHeader string
	// Tolerance is how far the time of signing may differ from now, in either direction. Required with TimestampHeader,
	// and not allowed without it.
	Tolerance time.Duration
	// ParseTimestamp parses the time of signing. Optional: by default seconds since 1970 and RFC 3339.
	ParseTimestamp func(value string) (time.Time, error)
}

// Encoding is the encoding of the sum in a header.
type Encoding uint8

const (
	// EncodingHex is hexadecimal, upper or lower case.
	EncodingHex Encoding = iota + 1
	// EncodingBase64 is Base64 with the standard alphabet and padding (RFC 4648, section 4).
	EncodingBase64
)

// KeyForm is the meaning of the 64 hex characters of a key.
type KeyForm uint8

const (
	// KeyDecoded: the 32 bytes that the characters encode.
	KeyDecoded KeyForm = iota + 1
	// KeyText: the 64 characters themselves.
	KeyText
)

// Validate returns all faults of v at once as a *[prepaid.ValidationError]. NewHandler calls it.
func (v HMAC) Validate() error {
	faults := v.faults()
	if v.Keys == nil {
		return faults.err()
	}
	keys := v.Keys.Keys()
	if len(keys) == 0 {
		faults.add("keys", "must hold at least one key")
	}
	checkKeys(&faults, keys)
	return faults.err()
}

// faults checks everything except the keys, which may change.
func (v HMAC) faults() faultList {
	var faults faultList
	if v.Header == "" {
		faults.add("header", ruleRequired)
	}
	if v.Encoding != EncodingHex && v.Encoding != EncodingBase64 {
		faults.add("encoding", "must be EncodingHex or EncodingBase64")
	}
	if v.KeyForm != KeyDecoded && v.KeyForm != KeyText {
		faults.add("key_form", "must be KeyDecoded or KeyText")
	}
	if v.Keys == nil {
		faults.add("keys", ruleRequired)
	}
	switch {
	case v.TimestampHeader == "" && v.Tolerance != 0:
		faults.add("tolerance", "needs timestamp_header")
	case v.TimestampHeader != "" && v.Tolerance <= 0:
		faults.add("tolerance", "must be above zero")
	}
	if v.TimestampHeader != "" && v.SignedText == nil {
		faults.add("signed_text", "is required with timestamp_header")
	}
	return faults
}

// Verify implements [Verifier].
//
// Errors: [ErrSignatureMissing], [ErrSignatureInvalid], [ErrSignatureExpired], *[prepaid.ValidationError] if a required
// field is missing.
func (v HMAC) Verify(_ context.Context, header http.Header, body []byte) error {
	if err := v.faults().err(); err != nil {
		return err
	}
	given, present := v.given(header)
	if !present {
		return ErrSignatureMissing
	}
	text := v.text(header, body)
	fits := false
	for _, secret := range v.candidates(header) {
		key, ok := v.key(secret)
		if !ok {
			continue
		}
		want := sum(key, text)
		for _, signature := range given { // no early return, so that the time taken does not reveal which one matched
			fits = hmac.Equal(signature, want) || fits
		}
	}
	if !fits {
		return ErrSignatureInvalid
	}
	if v.TimestampHeader != "" && !v.timely(header) {
		return ErrSignatureExpired
	}
	return nil
}

// Sign adds the signature of body to header, for tests. Before the call, set the headers that KeyID and SignedText read.
//
// Errors: *[prepaid.ValidationError] if a required field is missing, the key ring has no such key, or the timestamp is
// not set.
func (v HMAC) Sign(header http.Header, keyID string, body []byte) error {
	faults := v.faults()
	if v.TimestampHeader != "" && header.Get(v.TimestampHeader) == "" {
		faults.add("header", "must carry the timestamp")
	}
	if err := faults.err(); err != nil {
		return err
	}
	key, ok := v.key(v.Keys.Keys()[keyID])
	if !ok {
		faults.add("key_id", "must be that of a key of 64 hex characters")
		return faults.err()
	}
	signature := sum(key, v.text(header, body))
	if v.Encoding == EncodingBase64 {
		header.Add(v.Header, v.Prefix+base64.StdEncoding.EncodeToString(signature))
	} else {
		header.Add(v.Header, v.Prefix+hex.EncodeToString(signature))
	}
	return nil
}

func (v HMAC) text(header http.Header, body []byte) []byte {
	if v.SignedText == nil {
		return body
	}
	return v.SignedText(header, body)
}

// given returns the well-formed signatures of the header, and whether the header has any value.
func (v HMAC) given(header http.Header) (signatures [][]byte, present bool) {
	for _, value := range header.Values(v.Header) {
		present = present || value != ""
		for _, part := range append(strings.Fields(value), value) { // Prefix may contain a blank
			encoded, ok := strings.CutPrefix(part, v.Prefix)
			if !ok {
				continue
			}
			if signature, err := v.decode(encoded); err == nil && len(signature) == sha256.Size {
				signatures = append(signatures, signature)
			}
		}
	}
	return signatures, present
}

func (v HMAC) decode(text string) ([]byte, error) {
	if v.Encoding == EncodingBase64 {
		return base64.StdEncoding.Strict().DecodeString(text)
	}
	return hex.DecodeString(text)
}

func (v HMAC) candidates(header http.Header) map[string]prepaid.Secret {
	keys := v.Keys.Keys()
	if v.KeyID == nil {
		return keys
	}
	id := v.KeyID(header)
	secret, ok := keys[id]
	if !ok {
		return nil
	}
	return map[string]prepaid.Secret{id: secret}
}

// key accepts only 64 hex characters, for either KeyForm: anyone can compute a sum with an empty key.
func (v HMAC) key(secret prepaid.Secret) ([]byte, bool) {
	text := secret.Reveal()
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != 32 {
		return nil, false
	}
	if v.KeyForm == KeyText {
		return []byte(text), true
	}
	return key, true
}

func sum(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// timely is called only after the signature matched, so that its result tells a forger nothing.
func (v HMAC) timely(header http.Header) bool {
	parse := v.ParseTimestamp
	if parse == nil {
		parse = parseTimestamp
	}
	signed, err := parse(header.Get(v.TimestampHeader))
	return err == nil && time.Since(signed).Abs() <= v.Tolerance
}

func parseTimestamp(value string) (time.Time, error) {
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Unix(seconds, 0), nil
	}
	return time.Parse(time.RFC3339, value)
}
