package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const helloBody = "hello"

// The two sums were computed with openssl dgst -sha256 -mac HMAC over "hello", with -macopt hexkey: and key:.
const (
	helloDecoded = "53c40272a70c15ca4ee0af4df1f155fd6c41e00ce2307d8987ecd4bb36a7e990"
	helloText    = "b49bbe02310cc1ca6cbcc785bd0d608d032232984c64a65eeae0a46e4be84ece"
)

func base64Of(t *testing.T, sum string) string {
	t.Helper()
	raw, err := hex.DecodeString(sum)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(raw)
}

func TestHMACVerify(t *testing.T) {
	t.Parallel()
	good := helloDecoded
	for name, c := range map[string]struct {
		edit   func(*HMAC)
		values []string
		want   error
	}{
		"hex":                   {values: []string{good}},
		"capital hex":           {values: []string{strings.ToUpper(good)}},
		"one of several":        {values: []string{"x", good}},
		"several in one":        {values: []string{"x " + good}},
		"before a wrong one":    {values: []string{good, helloText}},
		"missing":               {want: ErrSignatureMissing},
		"empty":                 {values: []string{""}, want: ErrSignatureMissing},
		"several, all empty":    {values: []string{"", ""}, want: ErrSignatureMissing},
		"one bit":               {values: []string{"4" + good[1:]}, want: ErrSignatureInvalid},
		"cut":                   {values: []string{good[:62]}, want: ErrSignatureInvalid},
		"odd length":            {values: []string{good[:63]}, want: ErrSignatureInvalid},
		"longer":                {values: []string{good + "00"}, want: ErrSignatureInvalid},
		"two in one":            {values: []string{good + "," + good}, want: ErrSignatureInvalid},
		"base64 for hex":        {values: []string{base64Of(t, good)}, want: ErrSignatureInvalid},
		"of the other key form": {values: []string{helloText}, want: ErrSignatureInvalid},
		"key as text":           {edit: func(v *HMAC) { v.KeyForm = KeyText }, values: []string{helloText}},
		"base64":                {edit: func(v *HMAC) { v.Encoding = EncodingBase64 }, values: []string{base64Of(t, good)}},
		"base64 unpadded": {
			edit: func(v *HMAC) { v.Encoding = EncodingBase64 }, values: []string{strings.TrimRight(base64Of(t, good), "=")},
			want: ErrSignatureInvalid,
		},
		"base64, stray bits": {
			edit: func(v *HMAC) { v.Encoding = EncodingBase64 }, values: []string{strings.Replace(base64Of(t, good), "A=", "B=", 1)},
			want: ErrSignatureInvalid,
		},
		"hex for base64":   {edit: func(v *HMAC) { v.Encoding = EncodingBase64 }, values: []string{good}, want: ErrSignatureInvalid},
		"prefix":           {edit: func(v *HMAC) { v.Prefix = "sha256=" }, values: []string{"sha256=" + good}},
		"several prefixes": {edit: func(v *HMAC) { v.Prefix = "v1," }, values: []string{"v1," + helloText + " v2,x v1," + good}},
		"prefix and blank": {edit: func(v *HMAC) { v.Prefix = "HMAC " }, values: []string{"HMAC " + good}},
		"prefix missing":   {edit: func(v *HMAC) { v.Prefix = "sha256=" }, values: []string{good}, want: ErrSignatureInvalid},
		"prefix only":      {edit: func(v *HMAC) { v.Prefix = "sha256=" }, values: []string{"sha256="}, want: ErrSignatureInvalid},
		"prefix not asked": {values: []string{"sha256=" + good}, want: ErrSignatureInvalid},
		"second key": {
			edit:   func(v *HMAC) { v.Keys = keysOf("a", otherKey, "b", keyHex) },
			values: []string{good},
		},
		"key named": {
			edit: func(v *HMAC) {
				v.Keys = keysOf("a", otherKey, "b", keyHex)
				v.KeyID = func(http.Header) string { return "b" }
			},
			values: []string{good},
		},
		"other key named": {
			edit: func(v *HMAC) {
				v.Keys = keysOf("a", otherKey, "b", keyHex)
				v.KeyID = func(http.Header) string { return "a" }
			},
			values: []string{good}, want: ErrSignatureInvalid,
		},
		"unknown key named": {
			edit:   func(v *HMAC) { v.KeyID = func(http.Header) string { return "gone" } },
			values: []string{good}, want: ErrSignatureInvalid,
		},
		"no key is named": {
			edit:   func(v *HMAC) { v.KeyID = func(http.Header) string { return "" } },
			values: []string{good}, want: ErrSignatureInvalid,
		},
		"no keys": {edit: func(v *HMAC) { v.Keys = &Keys{} }, values: []string{good}, want: ErrSignatureInvalid},
		"empty key": {
			edit:   func(v *HMAC) { v.Keys, v.KeyForm = StaticKeys{"": {}}, KeyText },
			values: []string{hex.EncodeToString(sum(nil, []byte(helloBody)))}, want: ErrSignatureInvalid,
		},
		"short key": {
			edit:   func(v *HMAC) { v.Keys = StaticKeys{"a": prepaid.NewSecret("00")} },
			values: []string{hexHMAC(t, "00", helloBody)}, want: ErrSignatureInvalid,
		},
		"signed text": {
			edit: func(v *HMAC) {
				v.SignedText = func(header http.Header, body []byte) []byte {
					return append([]byte(header.Get("X-Nonce")+"."), body...)
				}
			},
			values: []string{hexHMAC(t, keyHex, "n1."+helloBody)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := verifier()
			if c.edit != nil {
				c.edit(&v)
			}
			header := http.Header{"X-Nonce": {"n1"}}
			if c.values != nil {
				header[signed] = c.values
			}
			err := v.Verify(t.Context(), header, []byte(helloBody))
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.Equal(t, c.want, err)
			require.ErrorIs(t, v.Verify(t.Context(), header, []byte(helloBody+" ")), c.want)
		})
	}
}

// An HMAC that lacks a setting refuses everything, also when it never went through NewHandler.
func TestIncompleteHMACRefuses(t *testing.T) {
	t.Parallel()
	header := http.Header{signed: {helloDecoded}, "X-Time": {"1"}}
	for name, c := range map[string]struct {
		edit  func(*HMAC)
		field string
	}{
		"header":      {func(v *HMAC) { v.Header = "" }, "header"},
		"encoding":    {func(v *HMAC) { v.Encoding = 0 }, "encoding"},
		"encoding 3":  {func(v *HMAC) { v.Encoding = 3 }, "encoding"},
		"key form":    {func(v *HMAC) { v.KeyForm = 0 }, "key_form"},
		"keys":        {func(v *HMAC) { v.Keys = nil }, "keys"},
		"tolerance":   {func(v *HMAC) { v.Tolerance = time.Second }, "tolerance"},
		"signed text": {func(v *HMAC) { v.TimestampHeader, v.Tolerance = "X-Time", time.Second }, "signed_text"},
		"no tolerance": {
			func(v *HMAC) {
				v.TimestampHeader, v.SignedText = "X-Time", func(_ http.Header, body []byte) []byte { return body }
			}, "tolerance",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := verifier()
			require.NoError(t, v.Verify(t.Context(), header, []byte(helloBody)))
			c.edit(&v)
			require.Equal(t, []string{c.field}, fields(t, v.Validate()))
			require.Equal(t, []string{c.field}, fields(t, v.Verify(t.Context(), header, []byte(helloBody))))
			require.Equal(t, []string{c.field}, fields(t, v.Sign(http.Header{"X-Time": {"1"}}, "k1", nil)))
		})
	}
}

func TestHMACValidateKeys(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]KeyRing{
		"none": StaticKeys(nil), "empty ring": &Keys{}, "no id": StaticKeys{"": prepaid.NewSecret(keyHex)},
		"no secret": StaticKeys{"a": {}}, "short": StaticKeys{"a": prepaid.NewSecret(keyHex[:62])},
		"not hex": StaticKeys{"a": prepaid.NewSecret("zz" + keyHex[2:])},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := verifier()
			v.Keys = keys
			require.Equal(t, []string{"keys"}, fields(t, v.Validate()))
		})
	}
	require.NoError(t, verifier().Validate())
}

func stamped() HMAC {
	v := verifier()
	v.TimestampHeader, v.Tolerance = "X-Time", 5*time.Minute
	v.SignedText = func(header http.Header, body []byte) []byte {
		return append([]byte(header.Get("X-Time")+"."), body...)
	}
	return v
}

func TestHMACTimestamp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		unix := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
		for name, c := range map[string]struct {
			stamp string
			want  error
		}{
			"now":             {unix(0), nil},
			"old enough":      {unix(-5 * time.Minute), nil},
			"too old":         {unix(-5*time.Minute - time.Second), ErrSignatureExpired},
			"a little ahead":  {unix(5 * time.Minute), nil},
			"too far ahead":   {unix(5*time.Minute + time.Second), ErrSignatureExpired},
			"RFC 3339":        {now.UTC().Format(time.RFC3339Nano), nil},
			"RFC 3339, old":   {now.Add(-time.Hour).Format(time.RFC3339), ErrSignatureExpired},
			"milliseconds":    {strconv.FormatInt(now.UnixMilli(), 10), ErrSignatureExpired},
			"largest number":  {"9223372036854775807", ErrSignatureExpired},
			"smallest number": {"-9223372036854775808", ErrSignatureExpired},
			"not a time":      {"yesterday", ErrSignatureExpired},
			"none":            {"", ErrSignatureExpired},
		} {
			header := http.Header{"X-Time": {c.stamp}, signed: {hexHMAC(t, keyHex, c.stamp+"."+helloBody)}}
			err := stamped().Verify(t.Context(), header, []byte(helloBody))
			require.Equal(t, c.want, err, name)

			header.Set("X-Time", unix(1*time.Second))
			require.Equal(t, ErrSignatureInvalid, stamped().Verify(t.Context(), header, []byte(helloBody)), "a changed time")
		}
	})
	require.ErrorIs(t, ErrSignatureExpired, ErrSignatureInvalid)
}

func TestHMACParseTimestamp(t *testing.T) {
	t.Parallel()
	v := stamped()
	v.ParseTimestamp = func(value string) (time.Time, error) { return time.Parse(time.Kitchen, value) }
	header := http.Header{"X-Time": {"3:04PM"}}
	require.NoError(t, v.Sign(header, "k1", []byte(helloBody)))
	require.Equal(t, ErrSignatureExpired, v.Verify(t.Context(), header, []byte(helloBody)))
	v.ParseTimestamp = func(string) (time.Time, error) { return time.Now(), nil }
	require.NoError(t, v.Verify(t.Context(), header, []byte(helloBody)))
}

func TestHMACSign(t *testing.T) {
	t.Parallel()
	for _, encoding := range []Encoding{EncodingHex, EncodingBase64} {
		for _, form := range []KeyForm{KeyDecoded, KeyText} {
			v := verifier()
			v.Encoding, v.KeyForm, v.Prefix = encoding, form, "v1:"
			header := http.Header{}
			require.NoError(t, v.Sign(header, "k1", []byte(helloBody)))
			require.NoError(t, v.Verify(t.Context(), header, []byte(helloBody)))
			want := map[KeyForm]string{KeyDecoded: helloDecoded, KeyText: helloText}[form]
			if encoding == EncodingBase64 {
				want = base64Of(t, want)
			}
			require.Equal(t, http.Header{signed: {"v1:" + want}}, header)
		}
	}
	require.Equal(t, []string{"key_id"}, fields(t, verifier().Sign(http.Header{}, "k2", nil)))
	require.Equal(t, []string{"header"}, fields(t, stamped().Sign(http.Header{}, "k1", nil)))
	require.NoError(t, stamped().Sign(http.Header{"X-Time": {"1"}}, "k1", nil))
}

func TestNothingPrintsAKey(t *testing.T) {
	t.Parallel()
	ring, err := NewKeys(StaticKeys{"k1": prepaid.NewSecret(keyHex)})
	require.NoError(t, err)
	v := verifier()
	config := Config{Verifier: v, OnTransaction: ignore}
	var text bytes.Buffer
	for _, value := range []any{v, &v, v.Keys, ring, ring.Keys(), config, newHandler(t, config)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&text, verb, value)
		}
		slog.New(slog.NewTextHandler(&text, nil)).Info("x", "value", value)
		slog.New(slog.NewJSONHandler(&text, nil)).Info("x", "value", value)
	}
	require.Contains(t, text.String(), "REDACTED")
	for _, form := range []string{keyHex, strings.ToUpper(keyHex), hex.EncodeToString([]byte(keyHex)), "0 1 2 3 4 5"} {
		require.NotContains(t, text.String(), form)
	}
}
