package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func wanted(uri string, company prepaid.CompanyID, keyID, key string) prepaid.CreateHookParams {
	return prepaid.CreateHookParams{
		URI: uri, Scope: []prepaid.CompanyID{company}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: keyID, HMACKeySecret: prepaid.NewSecret(key),
	}
}

// open uses the environment's service, or an emulator. The service reaches the receiver at WEBHOOK_URI: a proxy there terminates TLS
// and forwards to WEBHOOK_LISTEN.
func open(listener net.Listener) (*settings, error) {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate(listener)
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	company, err := strconv.ParseInt(os.Getenv("COMPANY_ID"), 10, 64)
	if err != nil || os.Getenv("WEBHOOK_INBOX") == "" {
		return nil, errors.New("COMPANY_ID (a number) and WEBHOOK_LISTEN, _URI, _KEY_ID, _KEY_FILE and _INBOX are required")
	}
	key, err := os.ReadFile(os.Getenv("WEBHOOK_KEY_FILE")) // 64 hex characters; a new key needs a new ID
	if err != nil {
		return nil, err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return nil, err
	}
	want := wanted(os.Getenv("WEBHOOK_URI"), prepaid.CompanyID(company), os.Getenv("WEBHOOK_KEY_ID"), strings.TrimSpace(string(key)))
	return &settings{client: client, listener: listener, want: want, inbox: os.Getenv("WEBHOOK_INBOX"), close: client.Close}, nil
}

// emulate starts an emulator that changes a balance three times, and then ends the receiver.
func emulate(listener net.Listener) (*settings, error) {
	local := httptest.NewTLSServer(nil) // only for its certificate
	local.Close()
	roots := x509.NewCertPool()
	roots.AddCert(local.Certificate())
	srv, err := prepaidtest.Start(prepaidtest.Options{WebhookRoots: roots})
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "webhook")
	account := srv.AddAccount(prepaidtest.SeedAccount{})
	return &settings{
		client: srv.Client(), listener: tls.NewListener(listener, local.TLS), inbox: filepath.Join(directory, "inbox.jsonl"),
		want:  wanted("https://"+listener.Addr().String(), prepaidtest.DefaultCompany, "key-1", strings.Repeat("0f", 32)),
		close: func() error { return errors.Join(srv.Close(), os.RemoveAll(directory)) },
		demonstrate: func(ctx context.Context) error {
			for _, amount := range []string{"100.00", "-20.00", "-5.50"} {
				srv.Adjust(account, amount)
			}
			return srv.WaitIdle(ctx)
		},
	}, err
}
