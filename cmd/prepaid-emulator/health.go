package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// healthTimeout is how long a running emulator may take to respond to -health.
const healthTimeout = 2 * time.Second

// health returns nil if an emulator serves at -listen. It requests the clock: a request that needs no token and is not logged. The
// transport uses no proxy, and health follows no redirect: the response must be from this address.
func (s *settings) health(ctx context.Context, transport http.RoundTripper) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, reachable("http://"+s.ListenOn)+"/clock", http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("no response from %s: %w", request.URL.Host, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s responded with status %d", request.URL.Host, response.StatusCode)
	}
	if body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10)); err != nil || !bytes.HasPrefix(body, []byte(`{"now":"`)) {
		return errors.New(request.URL.Host + " is not an emulator")
	}
	return nil
}
