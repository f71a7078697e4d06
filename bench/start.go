package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// startRows compares the time from the start of a process to its first response: a token and an account over TLS.
func startRows(rounds int) ([]row, error) {
	directory, err := os.MkdirTemp("", "certificate-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	certificate, key, err := writeCertificate(directory)
	if err != nil {
		return nil, err
	}
	address, stop, err := startServer(certificate, key)
	if err != nil {
		return nil, err
	}
	defer stop()
	built, remove, err := buildPrograms("raw", "client")
	if err != nil {
		return nil, err
	}
	defer remove()
	programs := [][]string{{built["raw"], "start", address, ""}, {built["client"], "start", address, ""}, {built["raw"], "start2", address, ""}}
	times := make([][]float64, len(programs))
	for i := range rounds * len(programs) {
		which := i % len(programs)
		r, err := runProgram([]string{"SSL_CERT_FILE=" + certificate, "SSL_CERT_DIR=" + directory}, programs[which]...)
		if err != nil {
			return nil, err
		}
		times[which] = append(times[which], float64(r.wall))
	}
	one, ours, two := median(times[0]), median(times[1]), median(times[2])
	return []row{
		atMost("process start to first response over TLS", one, ours, 1.2, nanoseconds),
		atMost("process start to first response over TLS, floor with two connections", two, ours, 1.2, nanoseconds),
	}, nil
}

// writeCertificate writes a certificate for loopback that signs itself, and its key.
func writeCertificate(directory string) (certificate, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		return "", "", err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	certificate, key = filepath.Join(directory, "certificate.pem"), filepath.Join(directory, "key.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600); err != nil {
		return "", "", err
	}
	return certificate, key, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600)
}
