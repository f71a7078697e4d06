package webhook

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func fields(t *testing.T, err error) []string {
	t.Helper()
	invalid, ok := errors.AsType[*prepaid.ValidationError](err)
	require.True(t, ok, "%v", err)
	var names []string
	for _, fault := range invalid.Faults {
		require.NotEmpty(t, fault.Rule)
		names = append(names, fault.Field)
	}
	return names
}

type picky struct{ err error }

func (p picky) Validate() error                                 { return p.err }
func (picky) Verify(context.Context, http.Header, []byte) error { return nil }
func ignore(context.Context, *prepaid.Message) error            { return nil }

type verifierFunc func(context.Context, http.Header, []byte) error

func (f verifierFunc) Verify(ctx context.Context, header http.Header, body []byte) error {
	return f(ctx, header, body)
}

func TestNewHandlerChecksConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		faults []string
	}{
		"zero":          {Config{}, []string{"verifier", "on_transaction"}},
		"no verifier":   {Config{OnTransaction: ignore}, []string{"verifier"}},
		"nothing to do": {Config{AllowUnverified: true}, []string{"on_transaction"}},
		"OnFailure is none": {
			Config{AllowUnverified: true, OnFailure: func(context.Context, int, error) {}}, []string{"on_transaction"},
		},
		"negative": {
			Config{AllowUnverified: true, OnOther: ignore, MaxBody: -1, Timeout: -1}, []string{"max_body", "timeout"},
		},
		"empty HMAC": {
			Config{Verifier: HMAC{}, OnOther: ignore},
			[]string{"verifier.header", "verifier.encoding", "verifier.key_form", "verifier.keys"},
		},
		"pointer to HMAC": {
			Config{Verifier: &HMAC{Header: signed, Encoding: EncodingHex, KeyForm: KeyText, Keys: StaticKeys{}}, OnOther: ignore},
			[]string{"verifier.keys"},
		},
		"nil pointer to HMAC": {Config{Verifier: (*HMAC)(nil), OnOther: ignore}, []string{"verifier"}},
		"own Validate":        {Config{Verifier: picky{errors.New("x")}, OnOther: ignore}, []string{"verifier"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handler, err := NewHandler(c.config)
			require.Nil(t, handler)
			require.Equal(t, c.faults, fields(t, err))
		})
	}
}
