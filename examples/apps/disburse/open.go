package main

import (
	_ "embed" // payments.csv
	"errors"
	"os"
	"path/filepath"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// settings are the client, the account that pays, and the file of payments.
type settings struct {
	client      *prepaid.Client
	environment string // "test", or empty for production
	float       prepaid.AccountID
	file        string
	close       func() error
}

// open uses the environment's service, or an emulator.
func open(file string) (*settings, error) {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate()
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	float := prepaid.AccountID(os.Getenv("FLOAT_ACCOUNT"))
	if float == "" || file == "" {
		return nil, errors.New("FLOAT_ACCOUNT and a file are required")
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return nil, err
	}
	s := &settings{client: client, float: float, file: file, close: client.Close}
	if config.TestEnvironment {
		s.environment = "test"
	}
	return s, nil
}

//go:embed payments.csv
var shipped []byte

// emulate starts an emulator with the accounts of payments.csv.
func emulate() (*settings, error) {
	directory, err := os.MkdirTemp("", "disburse")
	if err != nil {
		return nil, err
	}
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(directory))
	}
	for _, id := range []prepaid.AccountID{"EA10000000000101", "EA10000000000102", "EA10000000000103", "EA10000000000104"} {
		srv.AddAccount(prepaidtest.SeedAccount{ID: id})
	}
	file := filepath.Join(directory, "payments.csv")
	return &settings{
		client: srv.Client(), environment: "test",
		float: srv.AddAccount(prepaidtest.SeedAccount{Balance: "10000.00"}), file: file,
		close: func() error { return errors.Join(srv.Close(), os.RemoveAll(directory)) },
	}, os.WriteFile(file, shipped, 0o600)
}
