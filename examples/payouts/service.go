package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const transferOperation = "POST /accounts/{id}/transfer"

// ofEach is what each of three workers, and the proof, may use of the rate limit of one address.
const ofEach = 0.25

// service moves the money: an emulator with faults, or the test environment.
type service struct {
	config    prepaid.Config
	float     prepaid.AccountID
	payees    []prepaid.AccountID
	strangers []prepaid.AccountID // accounts that no order may pay
	call      time.Duration
	booking   time.Duration       // by which a history may be late
	emulator  *prepaidtest.Server // nil for the test environment
	lost      atomic.Int32        // responses that the emulator still loses
}

// openService starts the emulator unless the environment names a service.
func openService() (*service, error) {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate()
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errWrong, err)
	}
	config.RateShare = cmp.Or(config.RateShare, 1) * ofEach
	call, err := callFromEnv()
	if err != nil {
		return nil, err
	}
	s := &service{config: config, float: prepaid.AccountID(os.Getenv("PREPAID_FLOAT_ACCOUNT")), call: call, booking: 10 * time.Second}
	for id := range strings.SplitSeq(os.Getenv("PREPAID_PAYOUTS_PAYEES"), ",") {
		if id = strings.TrimSpace(id); id != "" {
			s.payees = append(s.payees, prepaid.AccountID(id))
		}
	}
	switch {
	case config.Environment != prepaid.EnvironmentTest:
		return nil, fmt.Errorf("%w: PREPAID_ENVIRONMENT must be test: orders of the demonstration are not real", errWrong)
	case s.float == "" || len(s.payees) == 0:
		return nil, fmt.Errorf("%w: PREPAID_FLOAT_ACCOUNT and PREPAID_PAYOUTS_PAYEES are required", errWrong)
	}
	return s, nil
}

// emulate starts an emulator that loses responses, is away now and then, and moves the money again for a repeat that
// overtakes its first request, as the service may.
func emulate() (*service, error) {
	emulator, err := prepaidtest.Start()
	if err != nil {
		return nil, err
	}
	s := &service{emulator: emulator, config: emulator.Config(), call: 4 * time.Second}
	// Short times, so that the payments of a killed worker continue after 8 s; with the defaults it is 3 min 40 s.
	s.config.AttemptTimeout, s.config.Retry.InFlightWait = time.Second, time.Second
	s.config.RateShare = ofEach
	s.float = emulator.AddAccount(prepaidtest.SeedAccount{Balance: "10000000.00"})
	for range 40 {
		s.payees = append(s.payees, emulator.AddAccount(prepaidtest.SeedAccount{}))
	}
	for range 5 {
		s.strangers = append(s.strangers, emulator.AddAccount(prepaidtest.SeedAccount{}))
	}
	emulator.Decide(s.fault)
	return s, nil
}

// fault goes by what arrives and not by the time: one transfer in ten goes wrong, each in its way.
func (s *service) fault(_ context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
	const later = 500 * time.Millisecond // less than InFlightWait, as the operator promises
	switch {
	case a.Operation != transferOperation:
		return prepaidtest.Fault{}
	case s.lost.Load() > 0 && s.lost.Add(-1) >= 0:
		return prepaidtest.CommitThenDrop()
	}
	switch a.Ordinal % 40 {
	case 7:
		return prepaidtest.CommitThenDrop()
	case 16:
		return prepaidtest.Respond(http.StatusServiceUnavailable, "")
	case 24: // the money moves after the caller has seen the failure
		return prepaidtest.DropBeforeCommit().CommitAfter(later)
	case 33:
		return prepaidtest.ProxyPage(http.StatusBadGateway).CommitAfter(later)
	}
	return prepaidtest.Delay(time.Duration(a.Ordinal%8) * 25 * time.Millisecond)
}

// lose makes the emulator pay and lose the responses.
func (s *service) lose(responses int32) bool {
	s.lost.Store(responses)
	return s.emulator != nil
}

// quiet waits until no request is being handled any more, and the histories are complete.
func (s *service) quiet(ctx context.Context) error {
	if s.emulator != nil {
		return s.emulator.WaitIdle(ctx)
	}
	sleep(ctx, s.booking)
	return ctx.Err()
}

func (s *service) close() error {
	if s.emulator == nil {
		return nil
	}
	return s.emulator.Close()
}

func (s *service) String() string {
	if s.emulator != nil {
		return "emulator"
	}
	return "test environment"
}
