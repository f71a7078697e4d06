package internal_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/pin"
)

func TestASavedKeyNeedsItsCertificate(t *testing.T) {
	t.Parallel()
	books := ledger.New(ledger.Options{})
	pins := pin.New(books, nil, nil, pin.Options{})
	made, err := pins.Identity()
	require.NoError(t, err)
	l := books.Lock()
	_, saved, err := pins.Save(l.View)
	require.NoError(t, err)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, other.Public(), other)
	require.NoError(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(other)
	require.NoError(t, err)
	restored := pin.New(books, nil, nil, pin.Options{})
	for _, wrong := range []pin.SavedIdentity{
		{Key: saved.Key, Certificate: saved.Key}, {Key: saved.Key, Certificate: certificate}, {Key: key, Certificate: certificate}, {Certificate: certificate},
	} {
		require.ErrorContains(t, restored.Restore(l, nil, &wrong), "pin_identity")
	}
	require.NoError(t, restored.Restore(l, nil, saved))
	l.Unlock()
	again, err := restored.Identity()
	require.NoError(t, err)
	require.Equal(t, made.Fingerprint(), again.Fingerprint())
}
