package internal_test

import (
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/statefile"
)

// slowState is a state that has always changed. Each text takes some time.
type slowState struct {
	took  time.Duration
	saved []time.Time
}

// Generation implements statefile.State.
func (s *slowState) Generation() int64 { return int64(len(s.saved)) }

// Save implements statefile.State.
func (s *slowState) Save() ([]byte, error) {
	s.saved = append(s.saved, time.Now())
	time.Sleep(s.took)
	return []byte(strconv.Itoa(len(s.saved))), nil
}

func TestItRestsAfterALongWrite(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0: statefile.Every, statefile.Every / 10: statefile.Every, 2 * time.Second: 20 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			state := &slowState{took: took}
			file, err := statefile.Open(filepath.Join(t.TempDir(), "state.json"), state)
			require.NoError(t, err)
			stopping, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				file.KeepUpToDate(stopping, func(err error) { t.Error(err) })
			}()
			time.Sleep(statefile.Every + took + want)
			synctest.Wait()
			close(stopping)
			<-done
			require.NoError(t, file.Close())
			require.Len(t, state.saved, 2)
			require.Equal(t, want, state.saved[1].Sub(state.saved[0])-took)
		})
	}
}
