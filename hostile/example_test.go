package hostile_test

import (
	"context"
	"os"
	"testing"

	"github.com/cardprograms/prepaid/hostile"
)

// The test runs copies of your worker, here payAll, and fails with timelines if a payment is not as ordered. docs/hostile.md has a worker.
func ExampleTest() {
	var payAll func(ctx context.Context, job hostile.Job) error
	_ = func(m *testing.M) { // TestMain
		hostile.Worker(payAll) // does not return in a process that a run has started
		os.Exit(m.Run())
	}
	_ = func(t *testing.T) {
		hostile.Test(t, hostile.Options{Payments: 200, Copies: 1})
	}
}
