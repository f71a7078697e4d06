package prepaidredis

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// TestMain makes the test binary the holder of a claim if started as such.
func TestMain(m *testing.M) {
	redis.SetLogger(quiet{}) // it writes to stderr what the errors have
	if address := os.Getenv(claimVariable); address != "" {
		os.Exit(holdClaim(address))
	}
	goleak.VerifyTestMain(m)
}
