// Package middleware is a stub, with the real body of what the rule looks for.
package middleware

import (
	"context"
	"net/http"
	"time"
)

func Timeout(timeout time.Duration) func(next http.Handler) http.Handler { // want Timeout:"gives requests a deadline"
	return func(next http.Handler) http.Handler {
		fn := func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), timeout)
			defer cancel()
			r = r.WithContext(ctx)
			next.ServeHTTP(w, r)
		}
		return http.HandlerFunc(fn)
	}
}

func RequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), "id", "1")))
	})
}
