package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// source is where the accounts are read from.
type source struct {
	client   *prepaid.Client
	emulator *prepaidtest.Server // nil for the real service
}

// connect creates a client of the real service or, without PREPAID_BASE_URL, of an emulator with a fictional program.
func connect(opts *options, now time.Time) (*source, error) {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		if opts.company != 0 || opts.clientID != "" {
			return nil, fmt.Errorf("%w: -company and -client need PREPAID_BASE_URL", errSetup)
		}
		return emulate(opts, now)
	}
	if opts.company == 0 {
		return nil, fmt.Errorf("%w: -company is required", errSetup)
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return nil, err
	}
	return &source{client: client}, nil
}

func (s *source) close() error {
	err := s.client.Close()
	if s.emulator != nil {
		err = errors.Join(err, s.emulator.Close())
	}
	return err
}
