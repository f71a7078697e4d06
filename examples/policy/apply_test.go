package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"path"
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
	// change sees each change, counted from 1, before it is sent. An error is that of the connection.
	change func(n int, request *http.Request) error
	sent   []string // each change: list, + or -
}

func (b *bench) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost && strings.Contains(request.URL.Path, "/policy/") {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		b.sent = append(b.sent, path.Base(request.URL.Path)+map[bool]string{true: "+", false: "-"}[bytes.Contains(text, []byte(`"add"`))])
		if b.change != nil {
			if err := b.change(len(b.sent), request); err != nil {
				return nil, err
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
		client: client, company: company, settle: time.Millisecond, out: b.text,
	}
	require.NoError(t, b.ensure(t.Context(), begin, true, true))
	b.sent = nil
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

// begin and end differ in categories that are added and removed, in one text, and in nothing else.
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

// What restricts is sent first, in all lists: additions to a block list, removals from an allow list. The two halves of a
// replacement are neighbours.
func TestOrderOfCalls(t *testing.T) {
	t.Parallel()
	for action, want := range map[prepaid.PolicyAction][]string{
		allow: {"categories+", "terminals+", "categories-", "merchants-", "merchants+", "terminals-"},
		deny:  {"categories-", "terminals-", "categories+", "merchants-", "merchants+", "terminals+"},
	} {
		from, to := begin(), end()
		from.action, to.action = action, action
		from.terminals = terminalsOf(prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1"})
		to.terminals = terminalsOf(prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T2"})
		b := newBench(t, from)
		require.NoError(t, b.converge(t.Context(), to))
		require.Equal(t, to, b.now())
		require.Equal(t, want, b.sent)
		require.Empty(t, b.text.String())
	}
}

// calls is what makes end of begin.
func calls() []string { return []string{"categories+", "categories-", "merchants-", "merchants+"} }

// Whichever response gets lost, nothing that has been done is sent again.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	for n := range calls() {
		b := newBench(t, begin())
		b.change = func(i int, request *http.Request) error {
			if i != n+1 {
				return nil
			}
			response, err := http.DefaultTransport.RoundTrip(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			return errors.New("connection reset")
		}
		require.NoError(t, b.converge(t.Context(), end()), n)
		require.Equal(t, end(), b.now())
		require.Equal(t, calls(), b.sent)
	}
}

// A request that gets lost is sent in the next round, when reading back has not shown it.
func TestLostRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	b.change = func(i int, _ *http.Request) error {
		if i != 2 {
			return nil
		}
		return errors.New("connection reset")
	}
	require.NoError(t, b.converge(t.Context(), end()))
	require.Equal(t, end(), b.now())
	require.Equal(t, []string{"categories+", "categories-", "categories-", "merchants-", "merchants+"}, b.sent)
	require.Contains(t, b.text.String(), "outcome unknown")
	require.Contains(t, b.text.String(), "beginning again")
}

func TestRefusedCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	b.srv.Inject("POST /policy/{id}/merchants", prepaidtest.Respond(400, "invalid_request"))
	require.ErrorIs(t, b.converge(t.Context(), end()), prepaid.ErrBadRequest)
	require.Equal(t, calls()[:3], b.sent)
	require.Equal(t, end().categories, b.now().categories)
	require.Equal(t, begin().merchants, b.now().merchants)
}

// A change of somebody else is noticed.
func TestSomebodyElse(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	b.change = func(n int, _ *http.Request) error {
		if n == 1 {
			b.elsewhere("5813")
		}
		return nil
	}
	require.ErrorIs(t, b.converge(t.Context(), end()), prepaid.ErrPolicyChanged)
	require.Contains(t, b.now().categories, prepaid.MCC("5813"))
}

// What others do in a list that the file leaves alone is no affair of ours.
func TestListLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin())
	wanted := end()
	wanted.categories = nil
	b.change = func(int, *http.Request) error {
		b.elsewhere("5813")
		return nil
	}
	require.NoError(t, b.converge(t.Context(), wanted))
	require.Equal(t, categoriesOf("0001", "0002", "5813"), b.now().categories)
	require.Equal(t, end().merchants, b.now().merchants)
}

// Ctrl+C ends an apply between two lists, but never between the halves of a replacement, and cuts no call off.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for n, sent := range map[int]int{1: 1, 2: 2, 3: 4, 4: 4} {
		b := newBench(t, begin())
		ctx, stop := context.WithCancel(t.Context())
		b.change = func(i int, _ *http.Request) error {
			if i == n {
				stop()
			}
			return nil
		}
		err := b.converge(ctx, end())
		require.ErrorIs(t, err, errStopped)
		require.NotErrorIs(t, err, prepaid.ErrOutcomeUnknown)
		require.Len(t, b.sent, sent, "stopped in call %d", n)
		require.Len(t, b.now().merchants, 1)
	}
}

// With a fault in one call of four the policy becomes the wanted one.
func TestConvergeThroughFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		action := []prepaid.PolicyAction{allow, deny}[r.IntN(2)]
		b := newBench(t, randomState(r, action), prepaidtest.RandomSeed(seed))
		wanted := randomState(r, action)
		for _, list := range []string{"categories", "merchants", "terminals"} {
			for _, fault := range []prepaidtest.Fault{prepaidtest.CommitThenDrop(), prepaidtest.TooManyRequests(0)} {
				b.srv.Inject("POST /policy/{id}/"+list, fault.WithProbability(0.12))
			}
		}
		require.NoError(t, b.converge(t.Context(), wanted), "seed %d", seed)
		b.srv.ClearFaults()
		require.Equal(t, wanted, b.now(), "seed %d", seed)
	}
}
