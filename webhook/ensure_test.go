package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// registry plays the service's hooks behind a client's transport. It shares no type with the client.
type registry struct {
	t       *testing.T
	hooks   []map[string]any
	size    int
	calls   []string // method and path of each change
	bodies  []map[string]any
	lists   int
	onLists func(list int)
	// create responds to POST /hooks in place of the registry.
	create func(r *registry, hook map[string]any) (*http.Response, error)
	// change responds to PATCH, and shown to each GET of the hook, counted from 1.
	change func() (*http.Response, error)
	shown  func(read int) map[string]any
	reads  int
}

func (r *registry) add(hook map[string]any) { r.hooks = append(r.hooks, hook) }

func (r *registry) RoundTrip(request *http.Request) (*http.Response, error) {
	path := strings.TrimPrefix(request.URL.Path, "/3.0")
	var body map[string]any
	if request.Body != nil {
		text, err := io.ReadAll(request.Body)
		require.NoError(r.t, err)
		if len(text) > 0 {
			require.NoError(r.t, json.Unmarshal(text, &body))
		}
	}
	if request.Method == http.MethodGet && path == "/hooks" {
		return r.list(request)
	}
	if request.Method == http.MethodGet {
		r.reads++
		return answer(request, 200, r.shown(r.reads)), nil
	}
	r.calls = append(r.calls, request.Method+" "+path)
	r.bodies = append(r.bodies, body)
	if request.Method == http.MethodPost && path == "/hooks" {
		if r.create != nil {
			return r.create(r, body)
		}
		body["id"] = "new"
		r.add(body)
		return answer(request, 201, map[string]any{"id": "new"}), nil
	}
	if r.change != nil {
		return r.change()
	}
	return answer(request, 200, nil), nil
}

func (r *registry) list(request *http.Request) (*http.Response, error) {
	r.lists++
	if r.onLists != nil {
		r.onLists(r.lists)
	}
	number, err := strconv.Atoi(request.URL.Query().Get("page_number"))
	require.NoError(r.t, err)
	pages := (len(r.hooks) + r.size - 1) / r.size
	if len(r.hooks) == 0 {
		return answer(request, 204, nil), nil
	}
	response := answer(request, 200, r.hooks[(number-1)*r.size:min(number*r.size, len(r.hooks))])
	response.Header.Set("X-PageSize", strconv.Itoa(r.size))
	response.Header.Set("X-TotalPages", strconv.Itoa(pages))
	response.Header.Set("X-TotalItems", strconv.Itoa(len(r.hooks)))
	return response, nil
}

func answer(request *http.Request, status int, body any) *http.Response {
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: request, ContentLength: int64(len(text)),
		Header: http.Header{"Content-Type": {"application/vnd.vendor+json"}}, Body: io.NopCloser(bytes.NewReader(text)),
	}
}

func (r *registry) client() *prepaid.HooksService {
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: "https://service.test/3.0/", Vendor: "vendor", Transport: r, Limiter: ratelimit.None{},
		Token: harness.StaticToken("t"),
	})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, client.Close()) })
	return client.Hooks
}

func newRegistry(t *testing.T, hooks ...map[string]any) *registry {
	t.Helper()
	return &registry{t: t, hooks: hooks, size: 2}
}

func hook(id string, changes map[string]any) map[string]any {
	h := map[string]any{
		"id": id, "uri": "https://receiver.example.com/hook", "scope": []int{7, 8}, "filter_spec": "*", "enabled": true,
		"reliability_mode": "store_undeliverable", "hmac_key_id": "k1", "last_undeliverable": nil,
		"last_undeliverable_timestamp": nil,
	}
	maps.Copy(h, changes)
	return h
}

func foreign(id string) map[string]any {
	return hook(id, map[string]any{"uri": "https://other.example.com/" + id})
}

func wanted() prepaid.CreateHookParams {
	return prepaid.CreateHookParams{
		URI: "https://receiver.example.com/hook", Scope: []prepaid.CompanyID{7, 8}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "k1", HMACKeySecret: prepaid.NewSecret(keyHex),
	}
}

func TestEnsureChangesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		there map[string]any
		edit  func(*prepaid.CreateHookParams)
		sent  map[string]any
	}{
		"same":                    {},
		"scope in other order":    {there: map[string]any{"scope": []int{8, 7, 8}}},
		"address in other form":   {there: map[string]any{"uri": "HTTPS://Receiver.example.com:443/hook"}},
		"scope":                   {there: map[string]any{"scope": []int{7}}, sent: map[string]any{"scope": []any{7.0, 8.0}}},
		"no company":              {edit: func(p *prepaid.CreateHookParams) { p.Scope = []prepaid.CompanyID{} }, sent: map[string]any{"scope": []any{}}},
		"filter":                  {there: map[string]any{"filter_spec": "x"}, sent: map[string]any{"filter_spec": "*"}},
		"disabled":                {there: map[string]any{"enabled": false}, sent: map[string]any{"enabled": true}},
		"enabled":                 {edit: func(p *prepaid.CreateHookParams) { p.Enabled = false }, sent: map[string]any{"enabled": false}},
		"mode":                    {there: map[string]any{"reliability_mode": "none"}, sent: map[string]any{"reliability_mode": "store_undeliverable"}},
		"key":                     {there: map[string]any{"hmac_key_id": "k0"}, sent: map[string]any{"hmac_key_id": "k1", "hmac_key_secret": keyHex}},
		"new secret under old id": {edit: func(p *prepaid.CreateHookParams) { p.HMACKeySecret = prepaid.NewSecret(otherKey) }},
		"two": {
			there: map[string]any{"scope": nil, "enabled": false},
			sent:  map[string]any{"scope": []any{7.0, 8.0}, "enabled": true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newRegistry(t, foreign("a"), foreign("b"), foreign("c"), hook("mine", c.there))
			want := wanted()
			if c.edit != nil {
				c.edit(&want)
			}
			id, err := Ensure(t.Context(), service.client(), want)
			require.NoError(t, err)
			require.EqualValues(t, "mine", id)
			if c.sent == nil {
				require.Empty(t, service.calls)
				return
			}
			require.Equal(t, []string{"PATCH /hooks/mine"}, service.calls)
			require.Equal(t, c.sent, service.bodies[0])
		})
	}
}

func TestEnsureTellsAddressesApart(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"https://receiver.example.com/hook/", "https://receiver.example.com/HOOK", "https://receiver.example.com:8443/hook",
		"https://receiver.example.com/hook?a=1", "http://receiver.example.com/hook", "https://receiver.example.com", "::",
	} {
		service := newRegistry(t, hook("other", map[string]any{"uri": uri}))
		id, err := Ensure(t.Context(), service.client(), wanted())
		require.NoError(t, err)
		require.EqualValues(t, "new", id, uri)
	}
	require.Equal(t, normal("https://a.example.com"), normal("https://A.example.com:443/"))
}

func TestEnsureSeveralHooks(t *testing.T) {
	t.Parallel()
	service := newRegistry(t, hook("a", nil), foreign("b"), foreign("c"), hook("d", nil))
	_, err := Ensure(t.Context(), service.client(), wanted())
	require.ErrorIs(t, err, prepaid.ErrAmbiguous)
	require.Empty(t, service.calls)
}

func TestEnsureChecksWhatIsWanted(t *testing.T) {
	t.Parallel()
	_, err := Ensure(t.Context(), (*prepaid.HooksService)(nil), prepaid.CreateHookParams{})
	require.ErrorContains(t, err, "hooks")
	_, err = Ensure(t.Context(), nil, prepaid.CreateHookParams{})
	require.Equal(t, []string{
		"hooks", "uri", "scope", "filter_spec", "reliability_mode", "hmac_key_id", "hmac_key_secret",
	}, fields(t, err))

	// Bad values are refused by Create and Update before they are sent.
	for _, service := range []*registry{newRegistry(t), newRegistry(t, hook("mine", nil))} {
		want := wanted()
		want.HMACKeyID, want.HMACKeySecret = "k2", prepaid.NewSecret("SECRET")
		_, err := Ensure(t.Context(), service.client(), want)
		require.Equal(t, []string{"hmac_key_secret"}, fields(t, err))
		require.NotContains(t, err.Error(), "SECRET")
		require.Empty(t, service.calls)
	}
}

// After a creation that may have taken effect nothing is created again.
func TestEnsureAfterUnknownCreation(t *testing.T) {
	t.Parallel()
	cut := errors.New("connection reset")
	for name, c := range map[string]struct {
		status int // of the response; 0 when none comes
		body   any
		seen   int // the list, counted from the creation, that first shows the hook; 0 for none
		waits  time.Duration
		found  bool
	}{
		"seen at once":     {seen: 1, found: true},
		"seen after 1 s":   {seen: 2, waits: time.Second, found: true},
		"seen after 3 s":   {seen: 3, waits: 3 * time.Second, found: true},
		"never seen":       {waits: 3 * time.Second},
		"server error":     {status: 500, body: map[string]any{"error": "server_error"}, seen: 1, found: true},
		"gateway time-out": {status: 504, seen: 2, waits: time.Second, found: true},
		"201 without id":   {status: 201, body: map[string]any{}, seen: 1, found: true},
		"ping failed":      {status: 400, body: map[string]any{"error": "no_response"}, seen: 1},
		"not allowed":      {status: 401, body: map[string]any{"error": "unauthorized"}, seen: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := newRegistry(t, foreign("a"))
				service.create = func(r *registry, body map[string]any) (*http.Response, error) {
					before := r.lists
					r.onLists = func(list int) {
						if c.seen > 0 && list == before+c.seen {
							body["id"] = "made"
							r.add(body)
						}
					}
					if c.status == 0 {
						return nil, cut
					}
					return answer(nil, c.status, c.body), nil
				}
				began := time.Now()
				id, err := Ensure(t.Context(), service.client(), wanted())
				require.Equal(t, c.waits, time.Since(began))
				creations := 0
				for _, call := range service.calls {
					if call == "POST /hooks" {
						creations++
					}
				}
				if c.status != 401 { // a 401 is repeated with a new token
					require.Equal(t, 1, creations)
				}
				require.NotContains(t, service.calls, "PATCH /hooks/made")
				if c.found {
					require.NoError(t, err)
					require.EqualValues(t, "made", id)
					return
				}
				require.Empty(t, id)
				require.Equal(t, c.status == 0, prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown)
			})
		})
	}
}

// A change that may have taken effect is not sent again: the hook is read, and its old key is retired when the change is
// seen.
func TestEnsureAfterUnknownChange(t *testing.T) {
	t.Parallel()
	cut := errors.New("connection reset")
	for name, c := range map[string]struct {
		status int // of the response; 0 when none arrives
		body   any
		seen   int // the read that first shows the change; 0 for none
		waits  time.Duration
		reads  int
		done   bool
	}{
		"seen at once":     {seen: 1, reads: 1, done: true},
		"seen after 1 s":   {seen: 2, waits: time.Second, reads: 2, done: true},
		"seen after 3 s":   {seen: 3, waits: 3 * time.Second, reads: 3, done: true},
		"never seen":       {waits: 3 * time.Second, reads: 3},
		"server error":     {status: 500, body: map[string]any{"error": "server_error"}, seen: 1, reads: 1, done: true},
		"gateway time-out": {status: 504, seen: 2, waits: time.Second, reads: 2, done: true},
		"gateway refusal":  {status: 403, seen: 1, reads: 1, done: true},
		"error in a 200":   {status: 200, body: map[string]any{"error": "server_error"}, waits: 3 * time.Second, reads: 3},
		"ping failed":      {status: 400, body: map[string]any{"error": "no_response"}, seen: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				old := map[string]any{"hmac_key_id": "k0", "scope": []int{7}}
				service := newRegistry(t, foreign("a"), hook("mine", old))
				service.change = func() (*http.Response, error) {
					if c.status == 0 {
						return nil, cut
					}
					return answer(nil, c.status, c.body), nil
				}
				service.shown = func(read int) map[string]any {
					if c.seen > 0 && read >= c.seen {
						return hook("mine", nil)
					}
					return hook("mine", old)
				}
				ring, err := NewKeys(keysOf("k0", otherKey))
				require.NoError(t, err)
				began := time.Now()
				id, err := Ensure(t.Context(), service.client(), wanted(), RotateIn(ring, time.Nanosecond))
				require.Equal(t, c.waits, time.Since(began))
				require.Equal(t, []string{"PATCH /hooks/mine"}, service.calls)
				require.Equal(t, c.reads, service.reads)
				time.Sleep(time.Second)
				if c.done {
					require.NoError(t, err)
					require.EqualValues(t, "mine", id)
					require.Equal(t, []string{"k1"}, ids(ring))
					return
				}
				require.Empty(t, id)
				require.Equal(t, c.status != 400, prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown, "%v", err)
				require.Equal(t, []string{"k0", "k1"}, ids(ring), "the hook may have either")
			})
		})
	}
}

func TestEnsureStopsLookingWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := newRegistry(t)
		service.create = func(*registry, map[string]any) (*http.Response, error) { return nil, errors.New("cut") }
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		_, err := Ensure(ctx, service.client(), wanted())
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

func TestEnsureListFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := newRegistry(t, hook("a", map[string]any{"scope": "everything"}))
		_, err := Ensure(t.Context(), service.client(), wanted())
		require.Error(t, err)
		require.Empty(t, service.calls, "nothing is created on a guess")
	})
}
