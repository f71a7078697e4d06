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

// TestMain makes a replica of the test binary when it was started as one.
func TestMain(m *testing.M) {
	redis.SetLogger(quiet{}) // it writes to stderr what the errors say
	if text := os.Getenv(replicaVariable); text != "" {
		os.Exit(replicaMain(text))
	}
	goleak.VerifyTestMain(m)
}
