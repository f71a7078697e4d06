package prepaidtest

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestAccountStateShowsNothingPersonal(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	person := lovelace()
	person.LastName = "Canary"
	id := c.AddAccount(SeedAccount{Balance: "12.50", Cardholder: &person, PlasticDisabled: true})
	c.Adjust(id, "-2.25")

	got := c.Account(id)
	require.Equal(t, []any{"10.25", "acme", 2, false}, []any{got.Balance, got.ClientID, got.Transactions, got.PlasticEnabled})
	require.False(t, got.LastTransaction.Before(got.FirstTransaction))
	require.False(t, got.FirstTransaction.IsZero())

	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("seen", "account", got)
	for _, text := range []string{fmt.Sprintf("%v", got), fmt.Sprintf("%+v", got), fmt.Sprintf("%#v", got), log.String()} {
		require.Contains(t, text, id)
		require.NotContains(t, text, "Canary")
	}
}

func TestHookStateHasTheUndeliverableAndNoSecret(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{})
	c.addHook(hookText(t, r.URL, nil))
	r.respond(http.StatusInternalServerError)
	id := c.AddAccount(SeedAccount{Balance: "5.00"})
	c.quiet()

	hooks := c.Hooks()
	require.Len(t, hooks, 1)
	require.Equal(t, []any{r.URL, []prepaid.CompanyID{42}, "*", true, "store_undeliverable", "k1", 0},
		[]any{hooks[0].URI, hooks[0].Scope, hooks[0].Filter, hooks[0].Enabled, hooks[0].Reliability, hooks[0].KeyID, hooks[0].Queued})
	require.Len(t, hooks[0].Undeliverable, 1)
	message := hooks[0].Undeliverable[0]
	require.Equal(t, []any{"transaction", 1}, []any{message.Type, message.Attempts})
	require.Contains(t, message.Body, id)
	require.NotContains(t, fmt.Sprintf("%+v", hooks), hookSecret)
}

func TestPageAnswersWhatIsNotTheService(t *testing.T) {
	t.Parallel()
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("page")) })
	c := start(t, Options{Page: page, RateLimit: 2, RateWindow: time.Minute})
	before := len(c.Requests())
	root := strings.TrimSuffix(c.URL, "3.0/")
	for range 5 {
		for _, path := range []string{"", "3.0", "other/3.0/x", "3.0x"} {
			response, err := c.http.Get(root + path)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, response.StatusCode, path)
			require.NoError(t, response.Body.Close())
		}
	}
	require.Len(t, c.Requests(), before, "not logged")
	require.Equal(t, int64(before), c.Requests()[before-1].Number)
	c.get("policy/mccodes").ok() // and not counted: this is the second of two
	got := c.get("policy/mccodes")
	require.Equal(t, http.StatusTooManyRequests, got.status)
	require.Empty(t, got.header.Get("Retry-After"), "it is a setting")
}
