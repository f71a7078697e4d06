package fleet_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// distant is a pool that is some milliseconds away.
func distant(pool fleet.Pool) fleet.Pool {
	return poolFunc(func(ctx context.Context, r fleet.Report) (fleet.Grant, error) {
		time.Sleep(time.Millisecond + rand.N(4*time.Millisecond))
		defer time.Sleep(time.Millisecond + rand.N(4*time.Millisecond))
		return pool.Exchange(ctx, r)
	})
}

const usual = 3 * time.Minute

var hour = flag.Duration("hour", usual, "how long the addresses of TestHourOfTenAddresses are used; CI's step soak takes an hour")

// Ten addresses for an hour, by default one of each kind for 3 minutes, each with four replicas that want more than the allowance: half
// of them a payroll with reads, the others reads with a few payments. Two pools are down for a sixth of that.
func TestHourOfTenAddresses(t *testing.T) {
	t.Parallel()
	lasts, addresses := *hour, 4
	if lasts > usual {
		addresses = 10
	}
	for address := range addresses {
		t.Run(fmt.Sprint(address), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := newMemory()
				name := fmt.Sprint(address)
				server.Used(t, name)
				if address < 2 {
					time.AfterFunc(lasts/3, func() { server.Kill(t) })
					time.AfterFunc(lasts/2, func() { server.Start(t) })
				}
				users := load{
					Options: fleet.Options{Allowance: 1000, Window: 10 * time.Second, Replicas: 4, Timeout: time.Second},
					Callers: 40, Trickle: address%2 == 1, For: lasts, Distance: 80 * time.Millisecond,
				}
				least, longest := 0.99, lasts
				if users.Trickle { // calls are spaced, and leave slots free for payments
					least, longest = 0.975, 5*time.Second
				}
				users.run(t, func() fleet.Pool { return distant(server.Open(t, name)) }).check(t, least, longest)
			})
		})
	}
}
