package webhook

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// Every kind of message with every kind of bad signature: no function is called and no id is claimed, so that the
// genuine message is still taken afterwards.
func TestNothingUnverifiedIsHandled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ring, err := NewKeys(keysOf("k1", keyHex, "gone", otherKey, "retired", thirdKey))
		require.NoError(t, err)
		require.True(t, ring.Remove("gone"))
		require.True(t, ring.Retire("retired", time.Minute))
		time.Sleep(time.Hour)
		form := stamped()
		form.Keys = ring
		var seen recorder
		handler := newHandler(t, Config{
			Verifier: form, OnTransaction: seen.take, OnOther: seen.take,
			OnType: map[prepaid.MessageType]func(context.Context, *prepaid.Message) error{"ping": seen.take},
		})
		stamp := func(age time.Duration) string { return strconv.FormatInt(time.Now().Add(-age).Unix(), 10) }
		now := stamp(0)
		for _, body := range []string{
			transaction, `{"id":"p","type":"ping"}`, `{"id":"a","type":"alert"}`, `{"type":"ping"}`, `{}`, `{`, ``,
			`{"id":"` + strings.Repeat("x", 100_000) + `","type":"transaction"}`,
		} {
			good := hexHMAC(t, keyHex, now+"."+body)
			for name, header := range map[string]http.Header{
				"none":                {"X-Time": {now}},
				"empty":               {"X-Time": {now}, signed: {""}},
				"several empty":       {"X-Time": {now}, signed: {"", "", ""}},
				"wrong":               {"X-Time": {now}, signed: {hexHMAC(t, otherKey, now+"."+body)}},
				"of a retired key":    {"X-Time": {now}, signed: {hexHMAC(t, thirdKey, now+"."+body)}},
				"of another body":     {"X-Time": {now}, signed: {hexHMAC(t, keyHex, now+"."+body+" ")}},
				"of the body alone":   {"X-Time": {now}, signed: {hexHMAC(t, keyHex, body)}},
				"cut short":           {"X-Time": {now}, signed: {good[:62]}},
				"one half":            {"X-Time": {now}, signed: {good[:32]}},
				"too long":            {"X-Time": {now}, signed: {good + "00"}},
				"old":                 {"X-Time": {stamp(time.Hour)}, signed: {hexHMAC(t, keyHex, stamp(time.Hour)+"."+body)}},
				"from the future":     {"X-Time": {stamp(-time.Hour)}, signed: {hexHMAC(t, keyHex, stamp(-time.Hour)+"."+body)}},
				"old with a new time": {"X-Time": {now}, signed: {hexHMAC(t, keyHex, stamp(time.Hour)+"."+body)}},
				"no time":             {signed: {hexHMAC(t, keyHex, "."+body)}},
			} {
				r := request(t, http.MethodPost, body, "")
				r.Header = header
				require.Equal(t, 401, serve(handler, r).Code, name)
				require.Zero(t, seen.count(), name)
			}
		}
		r := request(t, http.MethodPost, transaction, hexHMAC(t, keyHex, now+"."+transaction))
		r.Header.Set("X-Time", now)
		require.Equal(t, 200, serve(handler, r).Code)
		require.Equal(t, 1, seen.count())
	})
}

// upload counts the bytes that are read from it.
type upload struct{ sent atomic.Int64 }

func (u *upload) Read(p []byte) (int, error) {
	u.sent.Add(int64(len(p)))
	return len(p), nil
}

// Of a body of 1 GB from a hostile client, with its length declared or not, little is read.
func TestWireGigabyte(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{1 << 30, -1} {
		synctest.Test(t, func(t *testing.T) {
			var seen recorder
			config := open(seen.take)
			config.OnFailure = seen.fail
			p := serveOnPipes(t, &http.Server{Handler: newHandler(t, config), ReadHeaderTimeout: time.Hour}, (*http.Server).Serve)
			transport := &http.Transport{DialContext: p.dial}
			defer transport.CloseIdleConnections()
			var body upload
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.com", io.NopCloser(io.LimitReader(&body, 1<<30)))
			require.NoError(t, err)
			r.ContentLength = length
			response, err := transport.RoundTrip(r)
			if err == nil { // else the server hung up during the upload
				require.Equal(t, 413, response.StatusCode)
				require.NoError(t, response.Body.Close())
			}
			time.Sleep(time.Second) // until the server has hung up
			require.Less(t, body.sent.Load(), int64(2<<20))
			require.Equal(t, []failure{{413, errBodyLength}}, seen.failed())
			require.Zero(t, seen.count())
		})
	}
}
