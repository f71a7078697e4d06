package prepaid

import (
	"context"
	"slices"
)

// fetch makes a call whose answer is one JSON value.
func fetch[T any](ctx context.Context, c *Client, r request) (*T, error) {
	result := new(T)
	if err := c.do(ctx, &r, func(a *response) error { return decodeJSON(a, result) }); err != nil {
		return nil, err
	}
	return result, nil
}

// send makes a call whose response has no body to read: an attempt with one has not succeeded.
func send(ctx context.Context, c *Client, r request) error {
	return c.do(ctx, &r, func(*response) error { return nil })
}

// known reports whether value is one of listed.
func known[T comparable](value T, listed []T) bool { return slices.Contains(listed, value) }
