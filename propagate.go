package prepaid

import (
	"context"
	"net/http"
	"strings"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// propagate adds the trace context of Config.Propagate to the header of one attempt.
func (c *call) propagate(ctx context.Context, header http.Header) {
	hook := c.core.config.Propagate
	if hook == nil {
		return
	}
	var added http.Header
	c.core.guarded(func() { added = hook(ctx) })
	for name, values := range added {
		if !isTraceHeader(name) {
			continue
		}
		for _, value := range values {
			if value != "" && isHeaderValue(value) {
				header.Add(name, value)
			}
		}
	}
}

// isTraceHeader reports whether a header may come from outside. The others are the client's own or the connection's;
// with an idempotency key net/http would repeat a POST by itself.
func isTraceHeader(name string) bool {
	if name == "" || !ascii.IsName(name) {
		return false
	}
	name = strings.ToLower(name)
	for _, taken := range []string{
		"accept", "authorization", "connection", "content-", "cookie", "expect", "host", "if-", "keep-alive", "proxy-",
		"range", "te", "trailer", "transfer-", "upgrade", "user-agent",
	} {
		if name == taken || strings.HasPrefix(name, taken) && (strings.HasSuffix(taken, "-") || taken == "accept") {
			return false
		}
	}
	return !strings.Contains(name, "idempotency") && !strings.Contains(name, "http-method")
}

// isHeaderValue reports whether net/http would send a value as it is.
func isHeaderValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
