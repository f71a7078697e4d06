package prepaidredis

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/contrib/internal/fleet/fleettest"
)

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// TestMain makes a replica of the test binary, or the holder of a claim, when it was started as one.
func TestMain(m *testing.M) {
	redis.SetLogger(quiet{}) // it writes to stderr what the errors say
	fleettest.Replica(func(address, name string) (fleet.Pool, func(), error) {
		client := newClient(address)
		return newPool(client, name), func() { _ = client.Close() }, nil
	})
	if address := os.Getenv(claimVariable); address != "" {
		os.Exit(holdClaim(address))
	}
	goleak.VerifyTestMain(m)
}
