package bench

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"
)

// BenchmarkToken requests a valid token, on two cores.
func BenchmarkToken(b *testing.B) {
	static := oauth2.ReuseTokenSource(&oauth2.Token{AccessToken: "token", Expiry: time.Now().Add(time.Hour)}, nil)
	client := newClient(b, base, newMemory(tokenBody, 0))
	defer func() { require.NoError(b, client.Close()) }()
	run := func(side string, token func() error) {
		b.Run("side="+side, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
			b.ReportAllocs()
			b.RunParallel(func(each *testing.PB) {
				for each.Next() {
					if err := token(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
	run("baseline", func() error { _, err := static.Token(); return err })
	run("ours", func() error { _, err := client.Token(context.Background()); return err })
}

// BenchmarkLimiter is the baseline of BenchmarkSlotLimiter of package slots: a wait that does not block.
func BenchmarkLimiter(b *testing.B) {
	b.Run("side=baseline", func(b *testing.B) {
		limiter := rate.NewLimiter(rate.Limit(1e9), 1<<17)
		for b.Loop() {
			if err := limiter.Wait(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
