package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const company prepaid.CompanyID = 42

// bench is an emulator and an applier on it, whose changes pass through a hook.
type bench struct {
	*applier
	t    *testing.T
	srv  *prepaidtest.Server
	text *bytes.Buffer
	// change sees each change, counted from 1, before it is sent. Nil sends it; otherwise what it returns is the response.
	change func(n int, request *http.Request) (*http.Response, error)
	sent   int
}

func (b *bench) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost && strings.Contains(request.URL.Path, "/policy/") {
		b.sent++
		if b.change != nil {
			if answer, err := b.change(b.sent, request); answer != nil || err != nil {
				return answer, err
			}
		}
	}
	return http.DefaultTransport.RoundTrip(request)
}

func newBench(t *testing.T, begin state, options ...prepaidtest.Option) *bench {
	t.Helper()
	b := &bench{t: t, srv: prepaidtest.NewServer(t, options...), text: &bytes.Buffer{}}
	if begin.action == deny {
		b.srv.AddCompany(prepaidtest.Company{ID: company, Loop: prepaidtest.ClosedLoop})
	}
	config := b.srv.Config()
	config.Transport = b
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	b.applier = &applier{
		client: client, company: company, batch: 2, settle: time.Millisecond, out: b.text, bar: newProgress(io.Discard),
	}
	empty := b.now()
	p := makePlan(empty, begin)
	for _, s := range p.steps(100) {
		require.NoError(t, b.call(t.Context(), &s))
	}
	b.sent = 0
	return b
}

// now is the policy as it is.
func (b *bench) now() state {
	b.t.Helper()
	p, err := b.client.Policy.Get(b.t.Context(), company)
	require.NoError(b.t, err)
	return stateOf(p)
}

// elsewhere changes a category behind the applier's back.
func (b *bench) elsewhere(add prepaid.MCC) {
	require.NoError(b.t, b.srv.Client().Policy.ChangeCategories(b.t.Context(), company, prepaid.ChangeCategoriesParams{Add: []prepaid.MCC{add}}))
}

func textRule(text string) prepaid.MerchantRule {
	return prepaid.MerchantRule{AcquirerID: 1, CardAcceptorID: "SHOP", Description: text}
}

// begin and end are two steps apart for each kind: categories added (two calls) and removed, and one text.
func begin() state {
	return state{
		action: allow, categories: categoriesOf("0001", "0002"), merchants: merchantsOf(textRule("old")), terminals: terminalsOf(),
	}
}

func end() state {
	return state{
		action: allow, categories: categoriesOf("0002", "0003", "0004", "0005"), merchants: merchantsOf(textRule("new")), terminals: terminalsOf(),
	}
}

func TestConverge(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	got, err := b.converge(t.Context(), b.now(), end())
	require.NoError(t, err)
	require.Equal(t, end(), got)
	require.Equal(t, end(), b.now())
	require.Equal(t, 5, b.sent)
	require.Empty(t, b.text.String())
}

// Whichever call gets lost, before or after it was carried out, the policy becomes the wanted one, and nothing that has
// been done is sent again.
func TestLostCall(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 5; n++ {
		for name, late := range map[string]bool{"before": false, "after": true} {
			b := newBench(t, begin())
			lost := false
			b.change = func(i int, request *http.Request) (*http.Response, error) {
				if i != n || lost {
					return nil, nil
				}
				lost = true
				if late {
					answer, err := http.DefaultTransport.RoundTrip(request)
					require.NoError(t, err)
					_ = answer.Body.Close()
				}
				return nil, errors.New("connection reset")
			}
			got, err := b.converge(t.Context(), b.now(), end())
			require.NoError(t, err, name, n)
			require.Equal(t, end(), got)
			require.Equal(t, end(), b.now())
			require.Contains(t, b.text.String(), "outcome unknown")
			want := 5
			if !late {
				want++ // the lost one has to be made, though not as the same call
			}
			require.Equal(t, want, b.sent, "%s call %d", name, n)
		}
	}
}

// The lost call arrives only after the policy was read back, and the service refuses the one made in its place.
func TestLostCallArrivesLate(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	var first *http.Request
	var body []byte
	b.change = func(n int, request *http.Request) (*http.Response, error) {
		switch n {
		case 1:
			first = request.Clone(context.WithoutCancel(request.Context()))
			body, _ = io.ReadAll(request.Body)
			return nil, errors.New("connection reset")
		case 2:
			first.Body = io.NopCloser(bytes.NewReader(body))
			answer, err := http.DefaultTransport.RoundTrip(first)
			require.NoError(t, err)
			require.Equal(t, 200, answer.StatusCode)
			_ = answer.Body.Close()
			b.srv.Inject("POST /policy/{id}/categories", prepaidtest.Respond(400, "invalid_request"))
		}
		return nil, nil
	}
	_, err := b.converge(t.Context(), b.now(), end())
	require.NoError(t, err)
	require.Equal(t, end(), b.now())
}

func TestRefusedCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	b.srv.Inject("POST /policy/{id}/merchants", prepaidtest.Respond(400, "invalid_request"))
	got, err := b.converge(t.Context(), b.now(), end())
	require.ErrorIs(t, err, prepaid.ErrBadRequest)
	require.Equal(t, 3, b.sent) // two additions, then the refused removal of the old text; nothing is opened after that
	require.Equal(t, b.now(), got)
	require.Equal(t, categoriesOf("0001", "0002", "0003", "0004", "0005"), got.categories)
	require.Equal(t, begin().merchants, got.merchants)
}

func TestServiceThatKeepsFailing(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	b.srv.Inject("POST /policy/{id}/categories", prepaidtest.Respond(500, "server_error").Always())
	got, err := b.converge(t.Context(), b.now(), end())
	require.ErrorIs(t, err, errRounds)
	require.Equal(t, mostRounds, b.sent)
	require.Equal(t, begin(), got)
}

// What was read before cannot be read again: the error says so, with the call's own.
func TestReadingBackFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	current := b.now()
	b.change = func(int, *http.Request) (*http.Response, error) {
		b.srv.Inject("GET /policy/{id}/policy", prepaidtest.Respond(500, "server_error").Always())
		return nil, errors.New("connection reset")
	}
	_, err := b.converge(t.Context(), current, end())
	require.ErrorIs(t, err, prepaid.ErrServer)
	require.ErrorIs(t, err, prepaid.ErrOutcomeUnknown)
	require.Equal(t, 1, b.sent)
}

// A change of somebody else is noticed, between calls that went well and after one of unknown outcome.
func TestSomebodyElse(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		b := newBench(t, begin())
		b.change = func(n int, _ *http.Request) (*http.Response, error) {
			if n != 2 {
				return nil, nil
			}
			b.elsewhere("5813")
			if lost {
				return nil, errors.New("connection reset")
			}
			return nil, nil
		}
		got, err := b.converge(t.Context(), b.now(), end())
		require.ErrorIs(t, err, errChanged)
		require.Contains(t, got.categories, prepaid.MCC("5813"))
		require.Equal(t, lost, errors.Is(err, prepaid.ErrOutcomeUnknown))
	}
}

// What others do in a list that the file leaves alone is no affair of ours.
func TestListLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	wanted := end()
	wanted.categories = nil
	b.change = func(int, *http.Request) (*http.Response, error) {
		b.elsewhere("5813")
		return nil, nil
	}
	_, err := b.converge(t.Context(), b.now().within(wanted), wanted)
	require.NoError(t, err)
	require.Equal(t, categoriesOf("0001", "0002", "5813"), b.now().categories)
	require.Equal(t, end().merchants, b.now().merchants)
}

// Ctrl+C ends an apply between two calls, but never between the halves of a replacement, and cuts no call off.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for n, calls := range map[int]int{1: 1, 2: 2, 3: 4, 4: 4} {
		b := newBench(t, begin())
		current := b.now()
		ctx, stop := context.WithCancel(t.Context())
		b.change = func(i int, _ *http.Request) (*http.Response, error) {
			if i == n {
				stop()
			}
			return nil, nil
		}
		got, err := b.converge(ctx, current, end())
		require.ErrorIs(t, err, errStopped)
		require.NotErrorIs(t, err, prepaid.ErrOutcomeUnknown)
		require.Equal(t, calls, b.sent, "stopped in call %d", n)
		require.Equal(t, b.now(), got)
		require.Len(t, got.merchants, 1)
	}
}

// With a fault in one call of four, each kind of it, the policy is the wanted one whenever the applier says so, and
// what it says was read is what is there.
func TestConvergeThroughFaults(t *testing.T) {
	t.Parallel()
	done := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		action := []prepaid.PolicyAction{allow, deny}[r.IntN(2)]
		b := newBench(t, randomState(r, action), prepaidtest.RandomSeed(seed))
		wanted, current := randomState(r, action), b.now()
		for _, list := range []string{"categories", "merchants", "terminals"} {
			for _, fault := range []prepaidtest.Fault{
				prepaidtest.CommitThenDrop(), prepaidtest.DropBeforeCommit(), prepaidtest.ProxyPage(502), prepaidtest.TooManyRequests(0),
			} {
				b.srv.Inject("POST /policy/{id}/"+list, fault.WithProbability(0.06))
			}
		}
		got, err := b.converge(t.Context(), current, wanted)
		b.srv.ClearFaults()
		require.Equal(t, b.now(), got, "seed %d", seed)
		if err == nil {
			require.Equal(t, wanted, got, "seed %d", seed)
			done++
			continue
		}
		require.ErrorIs(t, err, errRounds, "seed %d", seed)
	}
	require.Greater(t, done, 50)
}
