package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The emulator has the operations of the reference. A raw call of another path finds nothing, and does nothing.
func TestE2ERawCallOfAnUnknownPath(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		id := s.seed("100.00")
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			err := s.client.Do(t.Context(), prepaid.RawRequest{
				Method: method, Path: "/accounts/{id}/expiry", PathValues: map[string]string{"id": string(id)},
			}, nil)
			failed(t, err, prepaid.OutcomeRejected, 404, "not_found")
			require.ErrorIs(t, err, prepaid.ErrNotFound)
		}
		s.holds(id, "100.00")
	})
}
