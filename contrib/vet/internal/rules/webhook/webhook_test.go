package webhook_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/webhook"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestWebhook(t *testing.T) {
	t.Parallel()
	vettest.Run(t, webhook.Analyzer, "messages")
}
