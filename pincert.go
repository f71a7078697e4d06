package prepaid

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
)

const pemBegin = "-----BEGIN "

// parsePINCertificate reads DER or PEM, or returns nil and adds a fault.
func parsePINCertificate(v *validator, data []byte) *x509.Certificate {
	if len(data) == 0 {
		v.fault("certificate", ruleRequired)
		return nil
	}
	// DER first: it can be told for certain, while text before a PEM block may be anything.
	if certificate, err := x509.ParseCertificate(data); err == nil {
		return certificate
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors write a byte order mark
	if !bytes.Contains(data, []byte(pemBegin)) {
		v.fault("certificate", "must be an X.509 certificate in PEM or DER form that crypto/x509 can read")
		return nil
	}
	der, rule := firstPEMCertificate(data)
	if rule != "" {
		v.fault("certificate", rule)
		return nil
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		v.fault("certificate", "must be an X.509 certificate that crypto/x509 can read")
		return nil
	}
	return certificate
}

// firstPEMCertificate returns the content of the first CERTIFICATE block, or the rule that the file breaks.
// pem.Decode silently steps over a damaged block, which in a chain would choose the issuer's key: so as many
// blocks must decode as begin.
func firstPEMCertificate(data []byte) (der []byte, rule string) {
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

// pinPublicKey returns the certificate's RSA key, or nil and adds a fault.
func pinPublicKey(v *validator, certificate *x509.Certificate) *rsa.PublicKey {
	public, ok := certificate.PublicKey.(*rsa.PublicKey)
	switch {
	case !ok:
		v.fault("certificate", "must have an RSA key")
	case public.N.BitLen() < minPINKeyBits:
		v.fault("certificate", "must have an RSA key of at least 2,048 bits")
	}
	return public
}
