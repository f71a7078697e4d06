package webhook

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/guard"
)

// retryAfter is the Retry-After of a 503, in seconds.
const retryAfter = "5"

// Handler receives messages. It is an http.Handler and safe for concurrent use. Create it with [NewHandler].
type Handler struct {
	config Config
	runs   *runs
}

// NewHandler validates config and returns all faults at once as a *[prepaid.ValidationError].
func NewHandler(config Config) (*Handler, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Claims == nil {
		config.Claims = Memory(0, 0)
	}
	config.OnType = maps.Clone(config.OnType)
	if config.MaxBody == 0 {
		config.MaxBody = defaultMaxBody
	}
	if config.Timeout == 0 {
		config.Timeout = defaultTimeout
	}
	return &Handler{config: config, runs: newRuns()}, nil
}

// ServeHTTP handles one message. The response, in the order of its checks, is
//
//   - 405 if the method is not POST;
//   - 503 after Shutdown;
//   - 413 if the body is longer than MaxBody;
//   - 400 if the body does not arrive, or not in time;
//   - 401 if the Verifier refuses the message, 500 if the Verifier panics;
//   - 400 if the body is not a message;
//   - 503 if the same message is being handled, or the ClaimStore fails;
//   - 500 if handling fails, panics or takes too long;
//   - 200 if the message was handled, now or before.
//
// A 503 has a Retry-After. Content-Type is ignored, because proxies change it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, err := h.receive(w, r)
	if err != nil {
		h.failed(r.Context(), status, err)
	}
	switch status {
	case http.StatusOK:
		w.WriteHeader(http.StatusOK)
		return
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
	}
	http.Error(w, http.StatusText(status), status)
}

func (h *Handler) receive(w http.ResponseWriter, r *http.Request) (int, error) {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, errMethod
	}
	if h.runs.refuses() {
		return http.StatusServiceUnavailable, ErrShutdown
	}
	body, err := h.read(w, r)
	switch {
	case errors.Is(err, errBodyLength):
		return http.StatusRequestEntityTooLarge, err
	case err != nil:
		return http.StatusBadRequest, err
	}
	if err = h.verify(r, body); err != nil {
		if _, panicked := errors.AsType[*PanicError](err); panicked {
			return http.StatusInternalServerError, err
		}
		return http.StatusUnauthorized, err
	}
	m := &prepaid.Message{}
	if err = m.UnmarshalJSON(body); err != nil {
		return http.StatusBadRequest, err
	}
	err = h.Handle(context.WithoutCancel(r.Context()), m)
	return statusOf(err), err
}

// statusOf returns the status for an error of Handle.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	_, store := errors.AsType[*ClaimError](err)
	if store || errors.Is(err, ErrInFlight) || errors.Is(err, ErrShutdown) {
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// read reads the body, at most MaxBody of it, and drops the reader's error, which may contain addresses.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > h.config.MaxBody {
		return nil, errBodyLength
	}
	if r.Body == nil { // never from a server
		return nil, nil
	}
	h.limitRead(w, r)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.config.MaxBody))
	if err == nil {
		return body, nil
	}
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, errBodyLength
	}
	return nil, errBodyRead
}

// limitRead limits the time for reading the body, unless the server's own limit is shorter. The server lifts
// the limit at the end of the body. If a ResponseWriter cannot set a limit, the server's limit applies.
func (h *Handler) limitRead(w http.ResponseWriter, r *http.Request) {
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if ok && server.ReadTimeout > 0 && server.ReadTimeout <= h.config.Timeout {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.config.Timeout))
}

func (h *Handler) verify(r *http.Request, body []byte) error {
	if h.config.Verifier == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.config.Timeout)
	defer cancel()
	return guarded(func() error { return h.config.Verifier.Verify(ctx, r.Header, body) })
}

func (h *Handler) handled(ctx context.Context, m *prepaid.Message, duplicate bool) {
	if h.config.OnHandled == nil {
		return
	}
	_ = guard.Call(func() { h.config.OnHandled(ctx, m, duplicate) })
}

func (h *Handler) failed(ctx context.Context, status int, err error) {
	if h.config.OnFailure == nil {
		return
	}
	_ = guard.Call(func() { h.config.OnFailure(ctx, status, err) })
}
