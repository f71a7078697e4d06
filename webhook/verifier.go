package webhook

import (
	"context"
	"net/http"
)

// Verifier decides whether a message comes from the service. It is safe for concurrent use.
type Verifier interface {
	// Verify returns nil if body, exactly as received, came from the service. It modifies neither header nor body, and
	// returns when ctx ends. The error contains no part of header or body.
	Verify(ctx context.Context, header http.Header, body []byte) error
}
