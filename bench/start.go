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

const (
	http1 = "HTTP/1.1"
	http2 = "HTTP/2"
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
	built, remove, err := buildPrograms("raw", "client")
	if err != nil {
		return nil, err
	}
	defer remove()
	var rows []row
	for _, version := range []string{http2, http1} {
		address, stop, err := startServer(version, certificate, key)
		if err != nil {
			return nil, err
		}
		times, err := inTurns(rounds, []string{"SSL_CERT_FILE=" + certificate, "SSL_CERT_DIR=" + directory},
			[]string{built["raw"], "start", address, "-"}, []string{built["client"], "start", address, "-"},
			[]string{built["client"], "plain", address, "-"}, []string{built["raw"], "start2", address, "-"})
		stop()
		if err != nil {
			return nil, err
		}
		one, ours, linked, two := times[0].wall, times[1].wall, times[2].wall, times[3].wall
		name := "process start to first response, " + version
		if version == http2 {
			rows = append(rows, atMost(name, one, ours, 1.2, nanoseconds).
				because("page faults and tables of the larger program count, see the next row"),
				atMost(name+", next to the baseline in the client's program", linked, ours, 1.2, nanoseconds))
		} else {
			rows = append(rows, atMost(name, one, ours, 1.2, nanoseconds).
				because("over HTTP/1.1 a token request has its own connection, see the next row"),
				atMost(name+", next to the baseline on two connections", two, ours, 1.2, nanoseconds))
		}
	}
	return rows, nil
}

// writeCertificate writes a self-signed certificate for loopback, and its key.
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
