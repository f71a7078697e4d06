package main

import (
	"context"
	"time"

	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
)

// figures are what the database holds at a moment.
type figures struct {
	stats prepaidpg.Stats
	shut  bool // the customers had placed all their orders before
	away  bool // the database did not respond: the rest is older
	rate  float64
	since time.Time // when the statistics last changed
}

// finished reports whether every order was placed, and every payment has an outcome.
func (f *figures) finished() bool { return f.shut && !f.away && pending(f.stats) == 0 }

// pending counts the payments that have no outcome yet, and those whose outcome is not in the books yet.
func pending(s prepaidpg.Stats) int {
	return s.Queued.Count + s.Intended.Count + s.NotSent.Count + s.Unknown.Count + s.Unsettled
}

func sameCounts(a, b prepaidpg.Stats) bool {
	return a.Done.Count == b.Done.Count && pending(a) == pending(b)
}

const (
	watchEvery = 200 * time.Millisecond
	rateOver   = 15 // looks, which is 3 s
)

// watch reads the figures until ctx ends.
func (d *demo) watch(ctx context.Context) {
	type look struct {
		at   time.Time
		done int
	}
	var looks []look
	for ctx.Err() == nil {
		f := figures{shut: d.shut.Load()} // before the statistics, so that they include the last order
		asking, cancel := context.WithTimeout(ctx, time.Second)
		stats, err := d.store.Stats(asking)
		cancel()
		if old := d.now.Load(); err != nil && old != nil {
			stats = old.stats
		}
		f.stats, f.away, f.since = stats, err != nil, time.Now()
		if old := d.now.Load(); old != nil && sameCounts(old.stats, stats) {
			f.since = old.since
		}
		looks = append(looks, look{time.Now(), stats.Done.Count})
		looks = looks[max(0, len(looks)-rateOver):]
		if first, last := looks[0], looks[len(looks)-1]; len(looks) > 1 {
			f.rate = float64(last.done-first.done) / last.at.Sub(first.at).Seconds()
		}
		d.now.Store(&f)
		sleep(ctx, watchEvery)
	}
}
