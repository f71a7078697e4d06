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

// TestMain makes the test binary the holder of a claim when it was started as one.
func TestMain(m *testing.M) {
	redis.SetLogger(quiet{}) // it writes to stderr, and the errors say the same
	if address := os.Getenv(claimVariable); address != "" {
		os.Exit(holdClaim(address))
	}
	goleak.VerifyTestMain(m)
}
