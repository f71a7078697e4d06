package prepaidpg

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// The queries of the guide are valid on the tables of this version.
func TestGuideQueries(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	queries := guideQueries(t)
	require.NotEmpty(t, queries)
	for _, query := range queries {
		var arguments []any
		if strings.Contains(query, "$1") {
			arguments = append(arguments, "order 7")
		}
		_, err := pool.Exec(t.Context(), query, arguments...)
		require.NoError(t, err, query)
	}
}

// guideQueries returns the SQL of the guide.
func guideQueries(t *testing.T) (queries []string) {
	t.Helper()
	guide, err := os.ReadFile("../../docs/payments-at-scale.md")
	require.NoError(t, err)
	for _, found := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		queries = append(queries, found[1])
	}
	return queries
}

// A claim was lost in a failover: after Recover, a refusal is no proof that the lost request moved nothing.
func TestRefusalAfterALostClaim(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.enqueue(transfer("a"))
	_, err := s.Recover(t.Context())
	require.NoError(t, err)
	refused := false
	sender := &teller{reply: func(_ context.Context, _ prepaid.RequestID, lastSent time.Time) error {
		require.WithinDuration(t, time.Now(), lastSent, 10*time.Second)
		if refused {
			return nil
		}
		refused = true
		return &prepaid.CallError{Outcome: prepaid.OutcomeRejected, LastSent: time.Now(), Err: &prepaid.APIError{StatusCode: 404}}
	}}
	require.NoError(t, s.runUntil(sender, Workers{}, s.are(journal.StateDone, transfer("a").RequestID)))
}
