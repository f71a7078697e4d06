package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// ledger responds with its booked entries inside the requested window.
type ledger struct {
	entries []entry
	ahead   time.Duration // its clock minus the local one
	asked   []url.Values
}

type entry struct {
	at     time.Time
	booked time.Time
	row    string // without occurred_at
}

func (l *ledger) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	l.asked = append(l.asked, query)
	from, _ := time.Parse(time.RFC3339, query.Get("start_date"))
	to, err := time.Parse(time.RFC3339, query.Get("end_date"))
	if err != nil {
		to = time.Now().AddDate(1, 0, 0)
	}
	var rows []string
	for _, e := range l.entries {
		if !time.Now().Before(e.booked) && !e.at.Before(from) && !e.at.After(to) {
			rows = append(rows, fmt.Sprintf(`{%s,"occurred_at":%q}`, e.row, e.at.Format(time.RFC3339)))
		}
	}
	date := "Date: " + time.Now().Add(l.ahead).UTC().Format(http.TimeFormat)
	if len(rows) == 0 {
		return harness.Respond(204, "", "", date)(r)
	}
	return harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]", "X-TotalPages: 1", date)(r)
}

const movementRow = `"id":"t-1","account_id":"acc-1","type":"1118","amount":-25.50,"running_balance_amount":74.50,"reference":"ref-1","card_acceptor_id":"m-1","terminal_id":"x-1"`

// A movement is found by its amount without sign and by the other fields of the query. No result proves absence.
func TestFindMovement(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer(`"t-1"`, `"t-2"`, "-25.50", "-25.51").Replace(movementRow)
	twin := strings.Replace(movementRow, `"t-1"`, `"t-3"`, 1)
	for name, tc := range map[string]struct {
		rows    []string
		adjust  func(*prepaid.FindMovementParams)
		failure error
	}{
		"the amount":     {[]string{movementRow, other}, nil, nil},
		"its opposite":   {[]string{movementRow}, func(q *prepaid.FindMovementParams) { q.Amount = prepaid.MustAmount("-25.5") }, nil},
		"another amount": {[]string{other}, nil, prepaid.ErrNotSeen},
		"nothing":        {nil, nil, prepaid.ErrNotSeen},
		"several":        {[]string{movementRow, twin}, nil, prepaid.ErrAmbiguous},
		"every field": {[]string{movementRow}, func(q *prepaid.FindMovementParams) {
			q.Types, q.Reference, q.CardAcceptorID, q.TerminalID = []prepaid.TransactionType{"2950", "1118"}, "ref-1", "m-1", "x-1"
		}, nil},
		"another type":      {[]string{movementRow}, func(q *prepaid.FindMovementParams) { q.Types = []prepaid.TransactionType{"2950"} }, prepaid.ErrNotSeen},
		"another reference": {[]string{movementRow}, func(q *prepaid.FindMovementParams) { q.Reference = "ref-10" }, prepaid.ErrNotSeen},
		"another merchant":  {[]string{movementRow}, func(q *prepaid.FindMovementParams) { q.CardAcceptorID = "m-2" }, prepaid.ErrNotSeen},
		"another parent":    {[]string{movementRow}, func(q *prepaid.FindMovementParams) { q.ParentID = "7" }, prepaid.ErrNotSeen},
		"another terminal":  {[]string{movementRow}, func(q *prepaid.FindMovementParams) { q.TerminalID = "x-2" }, prepaid.ErrNotSeen},
	} {
		bubble(t, name, func(t *testing.T) {
			service := &ledger{}
			for _, text := range tc.rows {
				service.entries = append(service.entries, entry{time.Now(), time.Now(), text})
			}
			query := prepaid.FindMovementParams{
				AccountID: "acc-1", Amount: prepaid.MustAmount("25.50"), From: time.Now().Add(-time.Hour), To: time.Now().Add(-time.Minute + time.Hour),
			}
			if tc.adjust != nil {
				tc.adjust(&query)
			}
			finding, err := harness.NewClient(t, harness.ClockConfig(service)).Accounts.FindMovement(t.Context(), query)
			require.ErrorIs(t, err, tc.failure)
			if err != nil {
				require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome)
				require.Equal(t, query.AccountID, harness.CallError(t, err).AccountID)
			}
			want := map[error]int{nil: 1, prepaid.ErrAmbiguous: 2}[tc.failure]
			require.Len(t, finding.Transactions, want)
			require.Equal(t, query.From.Add(-2*time.Second), finding.From)
			require.False(t, finding.To.After(query.To))
		})
	}
}

// FindMovement waits for a late booking while the window is open and for VisibleWithin. Each search reads up to now.
func TestFindMovementWaits(t *testing.T) {
	t.Parallel()
	lost := func() *prepaid.CallError {
		return &prepaid.CallError{Outcome: prepaid.OutcomeUnknown, FirstSent: time.Now(), LastSent: time.Now().Add(5 * time.Second)}
	}
	query := prepaid.FindMovementParams{AccountID: "acc-1", Amount: prepaid.MustAmount("25.50")}
	synctest.Test(t, func(t *testing.T) {
		service := &ledger{entries: []entry{{time.Now().Add(20 * time.Second), time.Now().Add(40 * time.Second), movementRow}}}
		client, began := harness.NewClient(t, harness.ClockConfig(service)), time.Now()
		around := query.Between(lost().FirstSent, lost().LastSent)
		require.Equal(t, began.Add(-2*time.Minute), around.From)
		require.Equal(t, began.Add(5*time.Second+10*time.Minute), around.To)
		finding, err := client.Accounts.FindMovement(t.Context(), around)
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(began), 40*time.Second)
		require.Less(t, time.Since(began), time.Minute)
		require.Equal(t, time.Now().UTC(), finding.To, "the moment of the last look")
		for _, asked := range service.asked {
			require.Empty(t, asked.Get("end_date"), "an end that is yet to come excludes nothing")
		}
	})
	for within, longest := range map[time.Duration]time.Duration{0: 2 * time.Minute, 20 * time.Second: 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			client, began := harness.NewClient(t, harness.ClockConfig(&ledger{})), time.Now()
			open := query.Between(lost().FirstSent, lost().LastSent)
			open.VisibleWithin = within
			finding, err := client.Accounts.FindMovement(t.Context(), open)
			require.ErrorIs(t, err, prepaid.ErrNotSeen)
			require.Empty(t, finding.Transactions)
			require.Equal(t, longest, time.Since(began))
		})
	}
	synctest.Test(t, func(t *testing.T) { // a window that has just ended
		made := time.Now()
		service := &ledger{entries: []entry{{made, made.Add(110 * time.Second), movementRow}}}
		client, ended := harness.NewClient(t, harness.ClockConfig(service)), query
		ended.From, ended.To = made.Add(-2*time.Minute), made
		_, err := client.Accounts.FindMovement(t.Context(), ended)
		require.NoError(t, err)
	})
	synctest.Test(t, func(t *testing.T) { // a past window is read once
		service := &ledger{}
		client, began := harness.NewClient(t, harness.ClockConfig(service)), time.Now()
		closed := query
		closed.From, closed.To = began.Add(-2*time.Hour), began.Add(-time.Hour)
		finding, err := client.Accounts.FindMovement(t.Context(), closed)
		require.ErrorIs(t, err, prepaid.ErrNotSeen)
		require.Len(t, service.asked, 1)
		require.Zero(t, time.Since(began))
		require.Equal(t, closed.To, finding.To)
	})
}

// Whatever ends a search, the outcome of the movement stays unknown: no error of a search may cause a second payment or count
// as a payment made.
func TestSearchesSettleNothing(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.RoundTripper{
		"refused":    harness.NewScript(harness.ServiceError(403, "forbidden")),
		"not found":  harness.NewScript(harness.ServiceError(404, "not_found")),
		"cut off":    harness.NewScript(harness.Broken(harness.ErrCut)),
		"unreadable": harness.NewScript(harness.Respond(200, harness.VendorJSON, "[7]")),
		"nothing":    harness.NewScript(harness.Respond(204, "", "")),
	} {
		for _, ended := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				client := harness.NewClient(t, harness.ClockConfig(response))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if ended {
					cancel()
				}
				query := prepaid.FindMovementParams{AccountID: "acc-1", Amount: prepaid.MustAmount("1"), From: time.Now(), To: time.Now()}
				_, err := client.Accounts.FindMovement(ctx, query)
				_, created := client.Accounts.FindCreated(ctx, prepaid.FindCreatedParams{ProgramClientID: "acme", ClientAccountKey: "key-1"})
				for _, err := range []error{err, created} {
					require.Error(t, err)
					require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err), "%s: %v", name, err)
				}
				require.Zero(t, harness.CallError(t, err).FirstSent, "the times of a search are not those of the movement")
				if ended {
					require.ErrorIs(t, err, context.Canceled)
				}
			})
		}
	}
}

// An incomplete query is not sent. A history that cannot be read gives no result.
func TestFindMovementErrors(t *testing.T) {
	t.Parallel()
	service := harness.NewScript(harness.ServiceError(404, "not_found"))
	client := harness.NewClient(t, scripted(service))
	_, err := client.Accounts.FindMovement(t.Context(), prepaid.FindMovementParams{AccountID: "a/../b"})
	failure := harness.CallError(t, err)
	require.Equal(t, prepaid.OutcomeRejected, failure.Outcome)
	require.Equal(t, "Accounts.FindMovement", failure.Operation)
	invalid, ok := errors.AsType[*prepaid.ValidationError](err)
	require.True(t, ok)
	var fields []string
	for _, fault := range invalid.Faults {
		fields = append(fields, fault.Field)
	}
	require.Equal(t, []string{"account_id", "amount", "from", "to"}, fields)

	now := time.Now()
	good := prepaid.FindMovementParams{AccountID: "acc-1", Amount: prepaid.MustAmount("1"), From: now, To: now.Add(-time.Second)}
	_, err = client.Accounts.FindMovement(t.Context(), good)
	require.ErrorContains(t, err, "to is required and must not be before from")
	require.Empty(t, service.Requests())

	good.To = now
	finding, err := client.Accounts.FindMovement(t.Context(), good)
	require.ErrorIs(t, err, prepaid.ErrNotFound)
	require.Nil(t, finding)
}

// A movement is found despite any clock difference, at once and after its window has passed. A second search is made
// only if the first page shows that the window was too narrow.
func TestFindMovementClocks(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{
		-3 * time.Hour, -121 * time.Second, -90 * time.Second, -1900 * time.Millisecond, -1100 * time.Millisecond, -time.Second,
		-300 * time.Millisecond, 0, 900 * time.Millisecond, time.Second, 1100 * time.Millisecond, 11 * time.Minute, 3 * time.Hour,
	} {
		for _, later := range []time.Duration{0, 700 * time.Millisecond, time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(300 * time.Millisecond)
				service := &ledger{ahead: ahead, entries: []entry{{time.Now().Add(ahead).Truncate(time.Second), time.Now(), movementRow}}}
				err := &prepaid.CallError{FirstSent: time.Now(), LastSent: time.Now()}
				time.Sleep(later)
				query := prepaid.FindMovementParams{AccountID: "acc-1", Amount: prepaid.MustAmount("25.50"), From: err.FirstSent, To: err.LastSent}
				began := time.Now()
				for _, query := range []prepaid.FindMovementParams{query, query.Between(err.FirstSent, err.LastSent)} {
					service.asked = nil
					finding, failure := harness.NewClient(t, harness.ClockConfig(service)).Accounts.FindMovement(t.Context(), query)
					require.NoError(t, failure, "%v later %v", ahead, later)
					require.Zero(t, time.Since(began))
					require.LessOrEqual(t, len(service.asked), 2)
					require.False(t, finding.From.After(finding.Transactions[0].OccurredAt))
					require.False(t, finding.To.After(began))
				}
			})
		}
	}
}

// A history that breaks off gives no finding, even if the movement is in the part that was read.
func TestFindMovementInIncompleteHistory(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]*harness.Script{
		"unseen": harness.NewScript(harness.Respond(204, "", "", "X-TotalPages: 2", "X-TotalItems: 2")),
		"seen": harness.NewScript(
			harness.Respond(200, harness.VendorJSON, "["+movementRow2+"]", "X-TotalPages: 2", "X-TotalItems: 2"),
			harness.Respond(200, harness.VendorJSON, "[]", "X-TotalPages: 2", "X-TotalItems: 2")),
	} {
		now := time.Now()
		finding, err := harness.NewClient(t, scripted(service)).Accounts.FindMovement(t.Context(), prepaid.FindMovementParams{
			AccountID: "acc-1", Amount: prepaid.MustAmount("25.50"), From: now.Add(-time.Hour), To: now.Add(-time.Second),
		})
		require.True(t, isIncomplete(err), name)
		require.Equal(t, prepaid.AccountID("acc-1"), harness.CallError(t, err).AccountID)
		require.Nil(t, finding)
	}
}

const movementRow2 = `{` + movementRow + `,"occurred_at":"2026-01-01T00:00:00Z"}`

func TestMovementBetween(t *testing.T) {
	t.Parallel()
	query := prepaid.FindMovementParams{AccountID: "acc-1", From: time.Unix(1, 0), To: time.Unix(2, 0)}
	require.Equal(t, query, query.Between(time.Time{}, time.Unix(9, 0)), "nothing was sent")
	for _, around := range []prepaid.FindMovementParams{
		query.Between(time.Unix(1000, 0), time.Unix(1010, 0)), query.Between(time.Unix(1010, 0), time.Unix(1000, 0)),
	} {
		require.Equal(t, []time.Time{time.Unix(1000-120, 0), time.Unix(1010+600, 0)}, []time.Time{around.From, around.To})
	}
	require.Equal(t, time.Unix(1000+600, 0), query.Between(time.Unix(1000, 0), time.Time{}).To)
}
