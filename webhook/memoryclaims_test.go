package webhook_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardprograms/prepaid/webhook"
	"github.com/cardprograms/prepaid/webhook/claimtest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		claimtest.Run(t, func(_ *testing.T, keep time.Duration) (one, two webhook.ClaimStore) {
			store := webhook.Memory(0, keep)
			return store, store
		})
	})
}
