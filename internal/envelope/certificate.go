package envelope

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
)

const pemBegin = "-----BEGIN "

// ParseCertificate reads DER or PEM. If data is invalid, it returns the broken rule. In a PEM file the first CERTIFICATE block counts.
func ParseCertificate(data []byte) (certificate *x509.Certificate, rule string) {
	if len(data) == 0 {
		return nil, "is required"
	}
	// DER is tried first: it is recognised reliably, while the text before a PEM block may be anything.
	if certificate, err := x509.ParseCertificate(data); err == nil {
		return certificate, ""
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors write a byte order mark
	if !bytes.Contains(data, []byte(pemBegin)) {
		return nil, "must be an X.509 certificate in PEM or DER form that crypto/x509 can read"
	}
	der, rule := firstCertificate(data)
	if rule != "" {
		return nil, rule
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, "must be an X.509 certificate that crypto/x509 can read"
	}
	return certificate, ""
}

// firstCertificate returns the content of the first CERTIFICATE block, or the rule that the file breaks. pem.Decode
// skips a damaged block silently. In a chain this would select the issuer's key, so pem.Decode must succeed for every block.
func firstCertificate(data []byte) (der []byte, rule string) {
	begins, blocks := bytes.Count(data, []byte(pemBegin)), 0
	var first *pem.Block
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		data = rest
		blocks++
		if first == nil && block.Type == "CERTIFICATE" {
			first = block
		}
	}
	switch {
	case blocks != begins:
		return nil, "must hold only well-formed PEM blocks"
	case len(bytes.TrimSpace(data)) > 0:
		return nil, "must have nothing after the last PEM block"
	case first == nil:
		return nil, "must have a PEM block of type CERTIFICATE"
	}
	return first.Bytes, ""
}

// PublicKey returns the certificate's RSA key, or the rule that the key breaks.
func PublicKey(certificate *x509.Certificate) (public *rsa.PublicKey, rule string) {
	public, ok := certificate.PublicKey.(*rsa.PublicKey)
	switch {
	case !ok:
		return nil, "must have an RSA key"
	case public.N.BitLen() < minKeyBits:
		return nil, "must have an RSA key of at least 2,048 bits"
	}
	return public, ""
}

// Fingerprint returns SHA-256 over the certificate's DER form, in lower-case hex.
func Fingerprint(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.Raw)
	return hex.EncodeToString(sum[:])
}
