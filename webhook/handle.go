package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/guard"
)

const (
	// settleTime bounds the call of the ClaimStore after handling.
	settleTime = 5 * time.Second
	// longestKey is the longest ID passed to a ClaimStore, in bytes.
	longestKey = 128
)

// Handle claims and handles one message, as ServeHTTP does after verification; it is meant for [Drain]. It returns nil if
// the message was handled, now or before.
//
// Errors: [ErrInFlight], [ErrShutdown]; *[ClaimError] if the store failed; *[PanicError]; the context's error if the
// function did not return within Timeout or before ctx ended; otherwise the function's own error.
func (h *Handler) Handle(ctx context.Context, m *prepaid.Message) error {
	if m == nil {
		return &prepaid.ValidationError{Faults: []prepaid.FieldError{{Field: "message", Rule: ruleRequired}}}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	handle := h.handlerOf(m)
	if handle == nil {
		return nil
	}
	key := ClaimID(m)
	if err := h.runs.enter(key); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	w := &work{message: m, key: key, returned: make(chan struct{}), result: make(chan error, 1)}
	go func() {
		defer cancel()
		h.do(ctx, w, func() error { return handle(ctx, m) })
	}()
	select {
	case <-w.returned:
	case <-ctx.Done():
		select {
		case <-w.returned:
		default:
			return fmt.Errorf("webhook: function did not return in time: %w", ctx.Err())
		}
	}
	return <-w.result
}

// handlerOf returns nil for a message that is only acknowledged.
func (h *Handler) handlerOf(m *prepaid.Message) func(context.Context, *prepaid.Message) error {
	if m.Type == prepaid.MessageTypeTransaction && h.config.OnTransaction != nil {
		return h.config.OnTransaction
	}
	if handle := h.config.OnType[m.Type]; handle != nil {
		return handle
	}
	return h.config.OnOther
}

// work is one message in progress.
type work struct {
	message  *prepaid.Message
	key      string        // empty if the message is not claimed
	returned chan struct{} // closed when the function has returned
	result   chan error    // gets the result once the claim has ended
}

// do claims and handles a message, and ends the claim.
func (h *Handler) do(ctx context.Context, w *work, handle func() error) {
	var claim Claim
	var done bool
	var err error
	if w.key != "" {
		claim, done, err = h.claim(ctx, w.key)
	}
	if err == nil && !done {
		err = guarded(handle)
	}
	close(w.returned)
	if err = h.settle(ctx, claim, err); err == nil {
		h.handled(ctx, w.message, done)
	}
	h.runs.leave(w.key)
	w.result <- err
}

// claim returns a claim that was won. If done is true, the message needs no handling.
func (h *Handler) claim(ctx context.Context, key string) (claim Claim, done bool, err error) {
	var state ClaimState
	err = guarded(func() error {
		found, failure := h.config.Claims.Claim(ctx, key, h.config.Timeout)
		if failure == nil {
			claim, state = found, found.State()
		}
		return failure
	})
	if err != nil {
		return nil, false, &ClaimError{Step: "claim", Err: err}
	}
	switch state {
	case ClaimWon:
		return claim, false, nil
	case ClaimDone:
		return nil, true, nil
	case ClaimInFlight:
		return nil, false, ErrInFlight
	default:
		return nil, false, &ClaimError{Step: "claim", Err: errClaimState}
	}
}

// settle records the result. If that fails, a handled message stays handled.
func (h *Handler) settle(ctx context.Context, claim Claim, result error) error {
	if claim == nil {
		return result
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	step, note := "done", claim.Done
	if result != nil {
		step, note = "release", claim.Release
	}
	err := guarded(func() error { return note(ctx) })
	expected := result != nil && errors.Is(err, ErrClaimLost) // a lease that has ended needs no release
	if err != nil && !expected {
		h.failed(ctx, 0, &ClaimError{Step: step, Err: err})
	}
	return result
}

// ClaimID returns the ID under which a [Handler] claims a message; see [ClaimStore] for its form. It has the hook's ID and the
// message's ID, since the reference does not say that message IDs are unique across hooks. It is empty for a message without an
// ID, which is not claimed. Use it as a key where your function records that it has handled m.
func ClaimID(m *prepaid.Message) string {
	if m.ID == "" {
		return ""
	}
	// The first slash ends the hook's ID. A hash replaces a key that a store might not accept.
	key := strings.NewReplacer("%", "%25", "/", "%2F").Replace(string(m.HookID)) + "/" + string(m.ID)
	unprintable := strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
	if len(key) <= longestKey && !unprintable {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Shutdown refuses new messages with 503 and waits for running functions, including those that overran their time. It
// returns the context's error if ctx ends first; the functions continue to run. It may be called more than once. Call it
// after the server's own Shutdown.
func (h *Handler) Shutdown(ctx context.Context) error {
	idle := h.runs.close()
	select {
	case <-idle:
		return nil
	default:
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// guarded returns a *PanicError if f panics or ends its goroutine.
func guarded(f func() error) (err error) {
	if failure := guard.Call(func() { err = f() }); failure != nil {
		return &PanicError{Stack: failure.Stack}
	}
	return err
}
