package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const (
	company = prepaidtest.DefaultCompany
	allow   = prepaid.PolicyActionAllow
	deny    = prepaid.PolicyActionDeny
)

// bench is an emulator and its session. Changes pass through a hook.
type bench struct {
	*session

	t    *testing.T
	srv  *prepaidtest.Server
	text *bytes.Buffer
	// change gets each change's number, from 1, before it is sent. Its error becomes the connection's.
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

func newBench(t *testing.T, begin document, more prepaidtest.Options) *bench {
	t.Helper()
	b := &bench{t: t, srv: prepaidtest.NewServer(t, more), text: &bytes.Buffer{}}
	if begin.DefaultAction == deny {
		b.srv.AddCompany(prepaidtest.Company{ID: company, Loop: prepaidtest.ClosedLoop})
	}
	config := b.srv.Config()
	config.Transport = b
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	b.session = &session{client: client, out: b.text, options: options{company: company, yes: true}}
	require.NoError(t, b.apply(t.Context(), &begin))
	b.sent = nil
	b.text.Reset()
	return b
}

func (b *bench) policy() *prepaid.Policy {
	b.t.Helper()
	p, err := b.srv.Client().Policy.Get(b.t.Context(), company)
	require.NoError(b.t, err)
	return p
}

// now is the policy as exported by export.
func (b *bench) now() string { return exported(b.t, b.policy()) }

func exported(t *testing.T, p *prepaid.Policy) string {
	t.Helper()
	var file strings.Builder
	require.NoError(t, writeFile(&file, company, p))
	return file.String()
}

// as returns a document's file.
func as(t *testing.T, d document) string {
	t.Helper()
	p := &prepaid.Policy{DefaultAction: d.DefaultAction}
	for _, code := range d.Categories {
		p.Categories = append(p.Categories, prepaid.CategoryRule{MerchantCategoryCode: code})
	}
	for _, m := range d.Merchants {
		p.Merchants = append(p.Merchants, prepaid.MerchantRule(m))
	}
	for _, r := range d.Terminals {
		p.Terminals = append(p.Terminals, prepaid.TerminalRule(r))
	}
	return exported(t, p)
}

// elsewhere changes a category while the program runs.
func (b *bench) elsewhere(add prepaid.MCC) {
	require.NoError(b.t, b.srv.Client().Policy.ChangeCategories(b.t.Context(), company, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{add}}))
}

func shop(description string) merchant {
	return merchant{AcquirerID: 1, CardAcceptorID: "SHOP", Description: description}
}

// begin and end differ in categories that are added and removed, in one text, and in nothing else.
func begin() document {
	return document{
		Company: company, DefaultAction: allow, Categories: []prepaid.MCC{"0001", "0002"},
		Merchants: []merchant{shop("old")}, Terminals: []terminal{},
	}
}

func end() document {
	return document{
		Company: company, DefaultAction: allow, Categories: []prepaid.MCC{"0002", "0003", "0004", "0005"},
		Merchants: []merchant{shop("new")}, Terminals: []terminal{},
	}
}

// Restrictions are sent first: additions to all lists of a block list, removals from each list of an allow list. The two
// halves of a replacement follow each other.
func TestOrderOfCalls(t *testing.T) {
	t.Parallel()
	for action, want := range map[prepaid.PolicyAction][]string{
		allow: {"categories+", "terminals+", "categories-", "merchants-", "merchants+", "terminals-"},
		deny:  {"categories-", "categories+", "merchants-", "merchants+", "terminals-", "terminals+"},
	} {
		from, to := begin(), end()
		from.DefaultAction, to.DefaultAction = action, action
		from.Terminals = []terminal{{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1"}}
		to.Terminals = []terminal{{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T2"}}
		b := newBench(t, from, prepaidtest.Options{})
		require.NoError(t, b.apply(t.Context(), &to))
		require.Equal(t, as(t, to), b.now())
		require.Equal(t, want, b.sent)
	}
}

// calls are the calls to turn begin into end.
func calls() []string { return []string{"categories+", "categories-", "merchants-", "merchants+"} }

// Whichever response is lost, no completed change is sent again.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	for n := range calls() {
		b := newBench(t, begin(), prepaidtest.Options{})
		b.change = func(i int, request *http.Request) error {
			if i != n+1 {
				return nil
			}
			response, err := http.DefaultTransport.RoundTrip(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			return errors.New("connection reset")
		}
		wanted := end()
		require.NoError(t, b.apply(t.Context(), &wanted), n)
		require.Equal(t, as(t, end()), b.now())
		require.Equal(t, calls(), b.sent)
	}
}

func TestRefusedCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin(), prepaidtest.Options{})
	b.srv.Inject("POST /policy/{id}/merchants", prepaidtest.Respond(400, "invalid_request"))
	wanted := end()
	wanted.Merchants[0].Description = "\x1b[2J\n"
	require.ErrorIs(t, b.apply(t.Context(), &wanted), prepaid.ErrBadRequest)
	require.Equal(t, calls()[:3], b.sent)
	require.Contains(t, b.text.String(), "Not done. Run it again. According to the last read, this is left:\n")
	require.Contains(t, b.text.String(), `    ~ 1 "SHOP" "\x1b[2J\n"`+"\n", "no foreign text can look like part of a plan")
	require.Len(t, b.policy().Categories, 4)
	require.Equal(t, "old", b.policy().Merchants[0].Description)
}

// Another user's change is detected, before the confirmation and during the calls.
func TestSomebodyElse(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin(), prepaidtest.Options{})
	b.change = func(n int, _ *http.Request) error {
		if n == 1 {
			b.elsewhere("5813")
		}
		return nil
	}
	wanted := end()
	require.ErrorIs(t, b.apply(t.Context(), &wanted), prepaid.ErrPolicyChanged)
	require.Contains(t, b.now(), "5813")
}

// Others' changes in a list that is not in the file do not matter.
func TestListLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, begin(), prepaidtest.Options{})
	wanted := end()
	wanted.Categories = nil
	b.change = func(int, *http.Request) error {
		b.elsewhere("5813")
		return nil
	}
	require.NoError(t, b.apply(t.Context(), &wanted))
	require.Len(t, b.policy().Categories, 3)
	require.Equal(t, "new", b.policy().Merchants[0].Description)
}

// Ctrl+C ends an apply between two lists, never between the halves of a replacement or during a call.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for n, sent := range map[int]int{1: 1, 2: 2, 3: 4, 4: 4} {
		b := newBench(t, begin(), prepaidtest.Options{})
		ctx, stop := context.WithCancel(t.Context())
		b.change = func(i int, _ *http.Request) error {
			if i == n {
				stop()
			}
			return nil
		}
		wanted := end()
		err := b.apply(ctx, &wanted)
		require.Equal(t, errStopped, err)
		require.Len(t, b.sent, sent, "stopped in call %d", n)
		require.Len(t, b.policy().Merchants, 1)
	}
}

// With a fault in one call of four, repeats of the command reach the wanted policy.
func TestApplyThroughFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		action := []prepaid.PolicyAction{allow, deny}[r.IntN(2)]
		b := newBench(t, randomDocument(r, action), prepaidtest.Options{RandomSeed: new(uint64(seed))})
		wanted := randomDocument(r, action)
		for _, list := range []string{"categories", "merchants", "terminals"} {
			for _, fault := range []prepaidtest.Fault{prepaidtest.CommitThenDrop(), prepaidtest.TooManyRequests(0)} {
				b.srv.Inject("POST /policy/{id}/"+list, fault.WithProbability(0.12))
			}
		}
		require.NoError(t, b.apply(t.Context(), &wanted), "seed %d", seed)
		require.Equal(t, as(t, wanted), b.now(), "seed %d", seed)
	}
}

// randomDocument has rules from few keys and texts, so that two documents share some.
func randomDocument(r *rand.Rand, action prepaid.PolicyAction) document {
	d := document{Company: company, DefaultAction: action, Categories: []prepaid.MCC{}, Merchants: []merchant{}, Terminals: []terminal{}}
	texts := []string{"a shop", "the shop", "another"}
	for n := range int64(4) {
		text := texts[r.IntN(len(texts))]
		if r.IntN(2) == 0 {
			d.Categories = append(d.Categories, prepaid.MCC([]string{"0001", "0002", "0003", "0004"}[n]))
		}
		if r.IntN(2) == 0 {
			d.Merchants = append(d.Merchants, merchant{AcquirerID: n + 1, CardAcceptorID: "SHOP", Description: text})
		}
		if r.IntN(2) == 0 {
			d.Terminals = append(d.Terminals, terminal{AcquirerID: n + 1, CardAcceptorID: "SHOP", TerminalID: "T1", Description: text})
		}
	}
	slices.Reverse(d.Merchants)
	return d
}
