package prepaidpg

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid/journal"
)

// Claim implements [journal.Store].
func (s *Store) Claim(ctx context.Context, c journal.Claim) ([]journal.Held, error) {
	from, seen := s.horizon.from(c.Admitted)
	epoch := s.epoch.Load()
	var here *string
	var list []journal.Held
	var now, first time.Time
	err := certainly(ctx, s.pool, indexed, func(batch *pgx.Batch) {
		if from == nil {
			batch.Queue(s.sql.Replace(setBackSQL), longestWait.Microseconds())
		}
		arguments := []any{epoch, c.N, (c.Sends + c.Rest).Microseconds(), c.Sends.Microseconds(), c.Admitted, from}
		batch.Queue(s.sql.Replace(claimSQL), arguments...).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				values := rows.RawValues()
				ofAll := make([]any, len(values))
				ofAll[len(values)-2], ofAll[len(values)-1] = at(&now), &here
				if err := rows.Scan(ofAll...); err != nil || values[0] == nil { // nothing is due
					return err
				}
				var h journal.Held
				var sealed string
				var lease int64
				var due, heldUntil time.Time
				if err := scan(rows, &h.Entry, &sealed, &lease, at(&due), at(&heldUntil), at(&h.Now), nil); err != nil {
					return err
				}
				var err error
				if h.Entry.Sealed, err = base64.StdEncoding.DecodeString(sealed); err != nil {
					return err
				}
				if first.IsZero() || due.Before(first) {
					first = due
				}
				h.Fence = strconv.FormatInt(lease, 10)
				if !heldUntil.IsZero() {
					h.Entry = h.Entry.Died(heldUntil, due.Sub(heldUntil))
				}
				list = append(list, h)
			}
			return rows.Err()
		})
	})
	if err == nil {
		err = s.isOn(here)
	}
	if err != nil {
		return nil, failure("claim", err)
	}
	if len(list) < c.N { // nothing else is due
		first = now
	}
	s.horizon.saw(seen, first)
	return list, nil
}

// Resting implements [journal.Store].
func (s *Store) Resting(ctx context.Context, admitted time.Time) (*journal.Resting, error) {
	var r journal.Resting
	var changed, now time.Time
	err := s.pool.QueryRow(ctx, s.sql.Replace(restingSQL), admitted).Scan(&r.Account, at(&r.Due), at(&changed), at(&now))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, failure("resting", err)
	}
	r.Wait, r.Age = r.Due.Sub(now), now.Sub(changed)
	return &r, nil
}

// Evidence implements [journal.EvidenceStore]: all workers share one row, and any worker's evidence is true.
func (s *Store) Evidence(ctx context.Context) (evidence []byte, now time.Time, err error) {
	var text string
	err = s.pool.QueryRow(ctx, s.sql.Replace(evidenceSQL)).Scan(&text, at(&now))
	return []byte(text), now, failure("evidence", err)
}

// SaveEvidence implements [journal.EvidenceStore].
func (s *Store) SaveEvidence(ctx context.Context, evidence []byte) error {
	_, err := s.pool.Exec(ctx, s.sql.Replace(saveEvidenceSQL), string(evidence))
	return failure("save evidence", err)
}

// horizon is the due time at which a claim begins to read the index. Earlier claims leave dead entries before the horizon.
// These remain as long as the server has an older transaction: without a horizon, each claim would read all of them.
//
// A payment can be due before the horizon, because its transaction was slow, its row was locked, or the payment had to
// rest. So from time to time, and when resting payments are admitted, a claim reads the whole index.
type horizon struct {
	mu       sync.Mutex
	first    time.Time // when the first payment of the last claim was due, by Postgres's clock
	whole    time.Time // when the whole index was last read
	admitted time.Time
}

const (
	horizonMargin = time.Second
	wholeEvery    = 2 * time.Second
)

// from returns the due time at which reading begins, or nil for the whole index, and h.first.
func (h *horizon) from(admitted time.Time) (from *time.Time, seen time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if now.Sub(h.whole) >= wholeEvery || !admitted.Equal(h.admitted) || h.first.IsZero() {
		h.whole, h.admitted = now, admitted
		return nil, h.first
	}
	return new(h.first.Add(-horizonMargin)), h.first
}

// saw ends a claim that began when h.first was seen. If another claim has read the whole index meanwhile, what that claim saw counts.
func (h *horizon) saw(seen, first time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first.Equal(seen) || first.Before(h.first) {
		h.first = first
	}
}
