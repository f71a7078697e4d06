package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/ratelimit"
)

// The test binary is also the program that tests kill.
const childEnv = "DISBURSE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(child())
	}
	_ = os.Unsetenv("PREPAID_BASE_URL") // of the user's environment
	_ = os.Unsetenv("PREPAID_FLOAT_ACCOUNT")
	if err := flag.Set("test.parallel", "8"); err != nil { // tests mostly wait
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m)
}

// child is main without the rate limit and with short waits.
func child() int {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitWrong
	}
	return quick(config).run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
}

// quick raises the limits of a client and shortens its waits.
func quick(config prepaid.Config) settings {
	config.Limiter = ratelimit.None{}
	config.AttemptTimeout = time.Second // an earlier repeat could overtake the first on a busy machine
	config.Retry = prepaid.RetryPolicy{
		MaxAttempts: 3, MinWait: time.Millisecond, MaxWait: 5 * time.Millisecond, InFlightWait: 200 * time.Millisecond,
	}
	s := defaults(config)
	s.booking, s.rateWindow, s.grace = 20*time.Millisecond, 0, time.Minute
	return s
}
