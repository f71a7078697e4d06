package token

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

func TestCloseDuringAnExchange(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"awaited": false, "early": true} {
		t.Run(name, func(t *testing.T) {
			var seen reports
			e := &endpoint{life: time.Hour}
			withManager(t, e, seen.options(), func(t *testing.T, m *Manager) {
				var token *oauth2.Token
				if early {
					token = mustToken(t, m, nil)
					time.Sleep(55 * time.Minute)
				}
				e.delay = time.Minute
				var callers sync.WaitGroup
				if early {
					mustToken(t, m, nil)
				} else {
					for range 10 {
						callers.Go(func() {
							if _, err := m.Token(t.Context(), nil); !errors.Is(err, ErrClosed) {
								t.Error(err)
							}
						})
					}
				}
				synctest.Wait()
				before := len(seen.errs)
				began := time.Now()
				m.Close()
				require.Zero(t, time.Since(began))
				require.Nil(t, m.pending, "Close waits for the exchange to end")
				callers.Wait()
				mustFail(t.Context(), t, m, nil, ErrClosed)
				mustFail(t.Context(), t, m, token, ErrClosed)
				m.Close()
				require.Len(t, seen.errs, before, "an exchange cut off is not reported")
			})
		})
	}
}

func TestCloseDuringAHoldOff(t *testing.T) {
	e := &endpoint{life: time.Hour, fail: failing(1, 1, errDown)}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		mustFail(t.Context(), t, m, nil, errDown)
		var caller sync.WaitGroup
		caller.Go(func() {
			if _, err := m.Token(t.Context(), nil); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
		synctest.Wait()
		m.Close()
		caller.Wait()
		require.EqualValues(t, 1, e.count.Load(), "nothing is sent after Close")
	})
}
