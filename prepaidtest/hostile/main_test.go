package hostile_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/prepaidtest/hostile"
)

func TestMain(m *testing.M) {
	hostile.Worker("leased", leased)
	hostile.Worker("journal", journaled)
	goleak.VerifyTestMain(m)
}
