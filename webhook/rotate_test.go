package webhook

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const thirdKey = "aa0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eaa"

// site is a receiver that the emulator sends to. Its Handler can be replaced, as by a restart.
type site struct {
	*prepaidtest.Server

	t       *testing.T
	account prepaid.AccountID
	seen    recorder
	under   chan struct{} // has one for each message under way, up to five
	handled chan struct{}
	url     string
	now     atomic.Pointer[Handler]
}

func newSite(t *testing.T, options prepaidtest.Options) *site {
	t.Helper()
	s := &site{t: t, under: make(chan struct{}, 5), handled: make(chan struct{}, 1)}
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.now.Load().ServeHTTP(w, r)
	}))
	t.Cleanup(receiver.Close)
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	s.url = receiver.URL
	options.WebhookRoots, options.DeliveryTimeout = roots, time.Minute
	s.Server = prepaidtest.NewServer(t, options)
	s.account = s.AddAccount(prepaidtest.SeedAccount{})
	return s
}

// start begins with these keys, as a new process would.
func (s *site) start(keys StaticKeys) *Keys {
	s.t.Helper()
	ring, err := NewKeys(keys)
	require.NoError(s.t, err)
	form := verifier()
	form.Keys = ring
	form.KeyID = func(header http.Header) string { return header.Get("X-Hmac-Key-Id") }
	s.now.Store(newHandler(s.t, Config{Verifier: form, OnTransaction: s.take, OnFailure: s.seen.fail}))
	return ring
}

func (s *site) take(ctx context.Context, m *prepaid.Message) error {
	select {
	case <-s.under:
	default:
	}
	select {
	case s.handled <- struct{}{}:
	default:
	}
	return s.seen.take(ctx, m)
}

func (s *site) want(keyID, secret string) prepaid.CreateHookParams {
	want := wanted()
	want.URI, want.Scope = s.url, []prepaid.CompanyID{prepaidtest.DefaultCompany}
	want.HMACKeyID, want.HMACKeySecret = keyID, prepaid.NewSecret(secret)
	return want
}

// client returns a client whose requests may take long on a slow machine.
func (s *site) client(config prepaid.Config) *prepaid.Client {
	s.t.Helper()
	config.AttemptTimeout = time.Minute
	client, err := prepaid.NewClient(config)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, client.Close()) })
	return client
}

func keysOf(pairs ...string) StaticKeys {
	keys := StaticKeys{}
	for pair := range slices.Chunk(pairs, 2) {
		keys[pair[0]] = prepaid.NewSecret(pair[1])
	}
	return keys
}

// complete checks that each of n messages was handled, and that none was refused.
func (s *site) complete(n int) {
	s.t.Helper()
	require.NoError(s.t, s.WaitIdle(s.t.Context()))
	require.Empty(s.t, s.seen.failed())
	require.Equal(s.t, n, s.seen.count())
	for _, delivery := range s.Deliveries() {
		require.Equal(s.t, 200, delivery.Status, delivery)
	}
}

// Messages flow all the time while the key is changed twice.
func TestRotationLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, prepaidtest.Options{})
	ring := s.start(keysOf("k1", keyHex))
	client := s.client(s.Config())
	id, err := Ensure(t.Context(), client.Hooks, s.want("k1", keyHex), RotateIn(ring, 0))
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	sent := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			select {
			case s.under <- struct{}{}:
			case <-ctx.Done():
			}
			s.Adjust(s.account, "1.00")
		}
		sent <- n
	}()
	flow := func() {
		for range 50 {
			<-s.handled
		}
	}
	for _, key := range [][2]string{{"k2", otherKey}, {"k3", thirdKey}} {
		flow()
		again, err := Ensure(t.Context(), client.Hooks, s.want(key[0], key[1]), RotateIn(ring, 0))
		require.NoError(t, err)
		require.Equal(t, id, again)
		require.Equal(t, key[0], s.Hooks()[0].KeyID)
	}
	flow()
	stop()
	s.complete(<-sent)
	require.Equal(t, []string{"k1", "k2", "k3"}, ids(ring), "for an hour")
}

// killer ends a process at its change of the hook: its context is cancelled before the request is sent, or when the
// service has responded to it.
type killer struct {
	http.RoundTripper

	sent bool
	kill context.CancelFunc
}

func (k *killer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPatch {
		return k.RoundTripper.RoundTrip(r)
	}
	if !k.sent {
		k.kill()
		return nil, context.Canceled
	}
	response, err := k.RoundTripper.RoundTrip(r)
	if err == nil {
		_ = response.Body.Close()
	}
	k.kill()
	return nil, context.Canceled
}

func TestRotationSurvivesACrash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent bool
		key  string // of the hook after the crash
	}{"before the change": {false, "k1"}, "after the change": {true, "k2"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, prepaidtest.Options{})
			ring := s.start(keysOf("k1", keyHex))
			client := s.client(s.Config())
			_, err := Ensure(t.Context(), client.Hooks, s.want("k1", keyHex), RotateIn(ring, time.Hour))
			require.NoError(t, err)

			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			config := s.Config()
			config.Transport = &killer{RoundTripper: transport, sent: c.sent, kill: kill}
			dying := s.client(config)
			_, err = Ensure(ctx, dying.Hooks, s.want("k2", otherKey), RotateIn(ring, time.Hour))
			require.Error(t, err)
			require.Equal(t, c.key, s.Hooks()[0].KeyID)
			require.Equal(t, []string{"k1", "k2"}, ids(ring))
			s.Adjust(s.account, "1.00") // to the process that did not learn the outcome
			require.NoError(t, s.WaitIdle(t.Context()))

			ring = s.start(keysOf("k1", keyHex, "k2", otherKey))
			s.Adjust(s.account, "2.00")
			require.NoError(t, s.WaitIdle(t.Context()))
			_, err = Ensure(t.Context(), client.Hooks, s.want("k2", otherKey), RotateIn(ring, time.Hour))
			require.NoError(t, err)
			require.Equal(t, "k2", s.Hooks()[0].KeyID)
			s.Adjust(s.account, "3.00")
			s.complete(3)
		})
	}
}

// The service refuses the change, as when the receiver does not respond to its ping: the old key is still the hook's.
func TestRotationRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, prepaidtest.Options{})
	ring := s.start(keysOf("k1", keyHex))
	client := s.client(s.Config())
	_, err := Ensure(t.Context(), client.Hooks, s.want("k1", keyHex), RotateIn(ring, time.Nanosecond))
	require.NoError(t, err)
	s.Inject("PATCH /hooks/{id}", prepaidtest.Respond(http.StatusBadRequest, "no_response"))
	_, err = Ensure(t.Context(), client.Hooks, s.want("k2", otherKey), RotateIn(ring, time.Nanosecond))
	require.ErrorIs(t, err, prepaid.CodeNoResponse)
	require.Equal(t, "k1", s.Hooks()[0].KeyID)
	require.Equal(t, []string{"k1", "k2"}, ids(ring))

	_, err = Ensure(t.Context(), client.Hooks, s.want("k2", otherKey), RotateIn(ring, time.Nanosecond))
	require.NoError(t, err)
	for len(ids(ring)) > 1 { // until a nanosecond has passed
		runtime.Gosched()
	}
	require.Equal(t, []string{"k2"}, ids(ring))
}

func TestRotationRefusesANewSecretUnderAnOldID(t *testing.T) {
	t.Parallel()
	service := newRegistry(t, hook("mine", nil))
	ring, err := NewKeys(keysOf("k1", otherKey))
	require.NoError(t, err)
	_, err = Ensure(t.Context(), service.client(), wanted(), RotateIn(ring, 0))
	require.Equal(t, []string{"hmac_key_id"}, fields(t, err))
	require.NotContains(t, err.Error(), otherKey)
	require.Zero(t, service.lists)
	require.Equal(t, otherKey, ring.Keys()["k1"].Reveal())

	ring, err = NewKeys(keysOf("k1", strings.ToUpper(keyHex)))
	require.NoError(t, err)
	_, err = Ensure(t.Context(), service.client(), wanted(), RotateIn(ring, 0))
	require.NoError(t, err, "the same bytes")
	_, err = Ensure(t.Context(), service.client(), wanted(), RotateIn(nil, 0))
	require.Equal(t, []string{"keys"}, fields(t, err))
	_, err = Ensure(t.Context(), service.client(), wanted(), nil)
	require.NoError(t, err)

	want := wanted()
	want.HMACKeyID, want.HMACKeySecret = "k2", prepaid.NewSecret("SECRET")
	_, err = Ensure(t.Context(), service.client(), want, RotateIn(ring, 0))
	require.Equal(t, []string{"keys"}, fields(t, err))
	require.Empty(t, service.calls)
}

func TestRetire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ring, err := NewKeys(keysOf("k1", keyHex, "k2", otherKey))
		require.NoError(t, err)
		require.False(t, ring.Retire("k9", time.Minute))
		require.True(t, ring.Retire("k1", time.Minute))
		require.True(t, ring.Retire("k1", time.Hour), "the earlier end stands")
		before := ring.Keys()
		time.Sleep(time.Minute - 1)
		require.Equal(t, []string{"k1", "k2"}, ids(ring))
		time.Sleep(1)
		require.Equal(t, []string{"k2"}, ids(ring))
		require.Len(t, before, 2, "what was handed out stays as it was")
		require.False(t, ring.Retire("k1", time.Minute), "it is no more")
		require.False(t, ring.Remove("k1"))

		require.True(t, ring.Retire("k2", time.Minute))
		require.NoError(t, ring.Add("k2", prepaid.NewSecret(otherKey)))
		time.Sleep(time.Hour)
		require.Equal(t, []string{"k2"}, ids(ring), "added again, it has no end")
	})
}
