package webhook

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
)

// retryAfter is the wait, in seconds, that a 503 asks for.
const retryAfter = "5"

// Handler receives messages. It is an http.Handler and safe for concurrent use. Make it with [NewHandler]; the zero
// value is not usable.
type Handler struct {
	config Config
	runs   *runs
}

// NewHandler checks config, all faults at once as a *[prepaid.ValidationError].
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

// ServeHTTP takes one message and answers, in the order of its checks:
//
//   - 405 when the method is not POST;
//   - 503 after Shutdown;
//   - 413 when the body is longer than MaxBody;
//   - 400 when the body does not arrive, or not in time;
//   - 401 when the Verifier refuses it, 500 when the Verifier panics;
//   - 400 when it is not a message;
//   - 503 when the same message is being handled, or the ClaimStore fails;
//   - 500 when handling fails, panics or takes too long;
//   - 200 when it was handled, now or before.
//
// A 503 carries Retry-After. Content-Type is not looked at, because proxies change it.
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
	m, err := prepaid.ParseMessage(body)
	if err != nil {
		return http.StatusBadRequest, err
	}
	err = h.Handle(context.WithoutCancel(r.Context()), m)
	return statusOf(err), err
}

// statusOf is the answer to what Handle returned.
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

// read takes the whole body, at most MaxBody of it, and drops the reader's error: it may name addresses.
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

// limitRead keeps a slow sender from holding the connection, unless the server has a shorter limit of its own. The
// server lifts the limit at the end of the body. A ResponseWriter that cannot set one leaves it to the server.
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
	return guard(func() error { return h.config.Verifier.Verify(ctx, r.Header, body) })
}

func (h *Handler) failed(ctx context.Context, status int, err error) {
	if h.config.OnFailure == nil {
		return
	}
	_ = guard(func() error {
		h.config.OnFailure(ctx, status, err)
		return nil
	})
}
