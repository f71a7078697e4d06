package webhook

import (
	"context"
	"net/http"
)

// Verifier decides whether a message is the service's. It is safe for concurrent use.
type Verifier interface {
	// Verify returns nil when body, exactly as received, came from the service. It changes neither header nor body,
	// ends with ctx, and its error holds nothing of them.
	Verify(ctx context.Context, header http.Header, body []byte) error
}
