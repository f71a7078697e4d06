package claimtest_test

import (
	"testing"
	"time"

	"github.com/cardprograms/prepaid/webhook"
	"github.com/cardprograms/prepaid/webhook/claimtest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	claimtest.Run(t, func(_ *testing.T, keep time.Duration) (one, two webhook.ClaimStore) {
		store := webhook.Memory(0, keep)
		return store, store
	})
}
