package prepaidotel

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/ratelimit"
)

// attemptErrorType returns the status of an error response, or the kind of error.
func attemptErrorType(a prepaid.Attempt) attribute.KeyValue {
	if a.StatusCode >= http.StatusBadRequest {
		return semconv.ErrorTypeKey.String(strconv.Itoa(a.StatusCode))
	}
	return semconv.ErrorTypeKey.String(errorType(a.Err))
}

// errorType returns one word of a short list for any error, or the status of an error response. It returns no text of
// the error: texts of a caller's token source or transport may be private.
func errorType(err error) string {
	for _, kind := range []struct {
		err  error
		name string
	}{
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "deadline_exceeded"},
		{prepaid.ErrClosed, "client_closed"},
		{prepaid.ErrRequestIDExpired, "request_id_expired"},
		{prepaid.ErrRequestIDReused, "request_id_reused"},
		{prepaid.ErrTransferFailed, "transfer_failed"},
	} {
		if errors.Is(err, kind.err) {
			return kind.name
		}
	}
	if _, ok := errors.AsType[*prepaid.ValidationError](err); ok {
		return "validation"
	}
	if _, ok := errors.AsType[*prepaid.TokenError](err); ok {
		return "token"
	}
	if _, ok := errors.AsType[*ratelimit.RefusedError](err); ok {
		return "limiter"
	}
	if response, ok := errors.AsType[*prepaid.APIError](err); ok && response.StatusCode > 0 {
		return strconv.Itoa(response.StatusCode)
	}
	if _, ok := errors.AsType[*prepaid.DecodeError](err); ok {
		return "decode"
	}
	if broken, ok := errors.AsType[*prepaid.TransportError](err); ok {
		return transportType(broken)
	}
	return "_OTHER"
}

// renewalErrorType returns the type of the cause in a *prepaid.TokenError, the error of every failed renewal.
func renewalErrorType(err error) string {
	if failure, ok := errors.AsType[*prepaid.TokenError](err); ok && failure.Err != nil {
		return errorType(failure.Err)
	}
	return errorType(err)
}

// transportType returns the step at which an exchange failed.
func transportType(broken *prepaid.TransportError) string {
	late, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](broken.Err)
	if ok && late.Timeout() {
		return "timeout"
	}
	switch broken.Step {
	case "connect", "headers", "body":
		return "transport_" + broken.Step
	}
	return "transport"
}
