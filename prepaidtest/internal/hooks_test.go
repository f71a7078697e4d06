package internal_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func TestPatternsOfAHookSayWhatIsChecked(t *testing.T) {
	t.Parallel()
	texts := []string{"", "key-1", strings.Repeat("k", 64), strings.Repeat("k", 65), strings.Repeat("0aF", 22)[:64], strings.Repeat("0", 63), "k\n", "é"}
	for c := range 128 {
		texts = append(texts, string(rune(c)), strings.Repeat("0", 63)+string(rune(c)))
	}
	bind := func(b *wire.Reader) { new(hooks.Hooks).BindMembers(b, new(hooks.Config)) }
	var described struct {
		Properties map[string]struct{ Pattern string }
	}
	require.NoError(t, json.Unmarshal(wire.AppendJSON(nil, wire.DescribeObject(bind)), &described))
	for _, name := range []string{"hmac_key_id", "hmac_key_secret"} {
		held, pattern := 0, regexp.MustCompile(described.Properties[name].Pattern)
		for _, text := range texts {
			quoted, err := json.Marshal(map[string]string{name: text})
			require.NoError(t, err)
			holds := !strings.Contains(reading(t, string(quoted), false, bind), name+" must have")
			require.Equal(t, holds, pattern.MatchString(text), "%s: %q", name, text)
			if holds {
				held++
			}
		}
		require.Greater(t, held, 20)
	}
}

// The cost of a hook grows linearly with the number of its failures.
func TestUndelivered_CopiesNothing(t *testing.T) {
	t.Parallel()
	source, running := ids.New(nil), activity.New()
	books := ledger.New(ledger.Options{IDs: source})
	armed := faults.NewQueue("", nil, 2, func(f faults.Delivery) faults.Schedule { return f.Schedule })
	s := hooks.New(books, clock.New(time.Time{}, true), source, running, armed, hooks.Options{AlertEvery: time.Hour})
	l := books.Lock()
	a := l.NewAccount(l.PutCompany(ledger.CompanyData{ID: 42}), time.Now())
	s.Add(l, hooks.Config{Enabled: true, Scope: []int64{42}, Filter: "*", Reliability: "store_undeliverable"}) // without an address
	h := s.All(l.View)[0]
	l.Unlock()
	moved, before := 0, 0
	for range 1000 {
		l := books.Lock()
		s.Announce(l, a, ledger.Item{})
		l.Unlock()
		require.NoError(t, running.WaitIdle(t.Context()))
		l = books.Lock()
		if cap(h.Undeliverable) != before {
			moved, before = moved+1, cap(h.Undeliverable)
		}
		l.Unlock()
	}
	require.Len(t, h.Undeliverable, 1000)
	require.Less(t, moved, 50)
	require.True(t, running.Close())
	running.Stop()
	running.Wait()
}
