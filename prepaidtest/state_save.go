package prepaidtest

import (
	"cmp"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Save writes the state as one JSON document, from which WithState begins another server. It can be called at any
// time, also after Close, and the same state always gives the same text.
//
// The document has secrets in plain text, so that clients and receivers go on working: access tokens, the webhooks'
// HMAC secrets, PINs and one-time passwords, the private key of the PIN certificate, and all personal data. Not in
// it are the options, the logs of requests and deliveries, rate limit windows and armed faults, nor functions: see
// WithState.
func (s *Server) Save(w io.Writer) error {
	s.clock.Settle()
	text, err := s.saved()
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("prepaidtest: write the state: %w", err)
	}
	return nil
}

// saved is the text of the document. The state is locked only as long as it is copied.
func (s *Server) saved() ([]byte, error) {
	document, err := s.snapshot()
	if err != nil {
		return nil, fmt.Errorf("prepaidtest: save the state: %w", err)
	}
	text, err := marshalState(document)
	if err != nil {
		return nil, fmt.Errorf("prepaidtest: save the state: %w", err)
	}
	return text, nil
}

// snapshot copies the state. While it does no task runs, so that each is either waiting or done.
func (s *Server) snapshot() (*stateDocument, error) {
	defer s.clock.Hold()()
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := &stateDocument{
		Version: stateVersion, Clock: s.clock.Save(), Movements: []savedMovements{},
		Companies: sorted(s.companies, savedCompanyOf), Accounts: s.savedAccounts(),
		Tokens: sorted(s.tokens, func(token string, expires time.Time) savedToken { return savedToken{token, expires} }),
		Authorisations: sorted(s.approvals, func(_ string, a *authorisation) savedAuthorisation {
			return savedAuthorisation{a.id, a.account, a.kind, a.amount, a.merchant.saved(), a.item, authorisationStates()[a.state]}
		}),
		Redemptions: sorted(s.redeemed, func(_ int64, r *redemption) savedRedemption {
			return savedRedemption{r.item, r.account, r.originating, r.correlation, r.amount, r.refunded, r.reversed}
		}),
		Templates: []savedTemplate{}, Runs: s.savedRuns(), Transfers: []savedTransfer{}, DIPKeys: []savedDIPKey{}, DIPUsed: []string{},
		PINChanges: sorted(s.pinChanges, func(id string, p *pinChange) savedPINChange {
			return savedPINChange{id, p.account, p.device, p.otp, p.expires, p.finished}
		}),
		Hooks: []savedHook{}, Tasks: s.savedTasks(),
	}
	for _, key := range s.transferQ {
		cached := s.transfers[key]
		d.Transfers = append(d.Transfers, savedTransfer{key.operation, key.requestID, string(cached.body), cached.expires})
	}
	for key, count := range s.movements {
		d.Movements = append(d.Movements, savedMovements{key.operation, key.requestID, count})
	}
	slices.SortFunc(d.Movements, func(a, b savedMovements) int {
		return cmp.Or(strings.Compare(a.Operation, b.Operation), strings.Compare(a.RequestID, b.RequestID))
	})
	for _, name := range slices.Sorted(maps.Keys(s.templates)) {
		if text := s.templates[name].text; text != "" {
			d.Templates = append(d.Templates, savedTemplate{name, text})
		}
	}
	for key := range s.dipKeys {
		d.DIPKeys = append(d.DIPKeys, savedDIPKey{key.application, key.key})
	}
	slices.SortFunc(d.DIPKeys, func(a, b savedDIPKey) int {
		return cmp.Or(strings.Compare(a.Application, b.Application), strings.Compare(a.Key, b.Key))
	})
	for used := range s.dipUsed {
		d.DIPUsed = append(d.DIPUsed, hex.EncodeToString(used[:]))
	}
	slices.Sort(d.DIPUsed)
	for _, h := range s.hookOrder {
		d.Hooks = append(d.Hooks, h.saved())
	}
	var err error
	d.IDs.PolicyRule = s.policyIDs
	if d.IDs.Transaction, d.IDs.Source, err = s.ids.Save(); err != nil {
		return nil, err
	}
	if s.pin != nil {
		d.PINIdentity, err = s.pin.saved()
	}
	return d, err
}

// sorted lists a map in the order of its keys.
func sorted[K cmp.Ordered, V, S any](from map[K]V, saved func(K, V) S) []S {
	list := make([]S, 0, len(from))
	for _, key := range slices.Sorted(maps.Keys(from)) {
		list = append(list, saved(key, from[key]))
	}
	return list
}

func savedCompanyOf(_ int64, c *company) savedCompany {
	add := savedCompany{ID: c.ID, ClientID: c.ClientID, ProgramID: c.ProgramID, ProductType: c.ProductType, Loop: c.Loop}
	if p := c.policy; p != nil { // lists may grow in place
		add.Policy = &savedPolicy{p.closed, slices.Clone(p.categories), slices.Clone(p.merchants), slices.Clone(p.terminals)}
	}
	return add
}

// savedAccounts needs s.mu. Items and wallet tokens are only ever appended, and need no copy.
func (s *Server) savedAccounts() []savedAccount {
	found := make(map[*account]int)
	for _, list := range s.byKey {
		for place, a := range list {
			found[a] = place
		}
	}
	list := make([]savedAccount, len(s.order))
	for i, a := range s.order {
		list[i] = savedAccount{
			ID: a.id, ExternalID: a.externalID, CardNumber: a.cardNumber, CompanyID: a.company.ID, Status: a.status,
			ProductType: a.productType, AccountType: a.accountType, Plastic: a.plastic, PlasticExpiry: a.plasticExpiry.UTC(),
			AccountExpiry: a.accountExpiry.UTC(), DisplayName: a.displayName, NameOnCard: a.nameOnCard, Key: a.clientAccountKey,
			BPAYReference: a.bpayReference, DirectEntry: a.directEntry, Personal: a.personal.Personal, FreeText: a.freeText,
			Portal: a.portal, MDESConfigID: a.mdesConfigID, CorrespondingAccountID: a.corresponding,
			CardholderType: a.holderType, Balance: a.balance, Items: slices.Clip(a.items), Wallet: slices.Clip(a.wallet),
			PIN: a.pin, PINTries: a.pinTries, Found: found[a],
		}
	}
	return list
}

// savedRuns needs s.mu.
func (s *Server) savedRuns() []savedRun {
	runs := make(map[string]*reportRun)
	for _, last := range s.lastRun {
		runs[last.id] = last
	}
	maps.Copy(runs, s.runs)
	return sorted(runs, func(id string, r *reportRun) savedRun {
		run := savedRun{
			ID: id, Template: r.template, Headers: r.headers, Requested: r.requested, Ready: r.ready, Counts: r.counts, CSV: r.text,
			Last: s.lastRun[r.template] == r, Forgotten: s.runs[id] == nil,
		}
		if r.text != "" && s.templates[r.template].text == r.text {
			run.CSV, run.AsNow = "", true
		}
		return run
	})
}

// savedTasks needs s.mu. A hook that was deleted has nothing left to do.
func (s *Server) savedTasks() []savedTask {
	list := []savedTask{}
	for _, waiting := range s.clock.Waiting() {
		j := waiting.Job.(*job)
		if j.hook != nil && j.hook.deleted {
			continue
		}
		saved := savedTask{Due: waiting.Due, Kind: j.kind}
		if in := j.input; in != nil {
			saved.Input = &savedInput{in.kind, in.account, in.authorisation, in.amount, in.merchant.saved()}
		}
		if j.hook != nil {
			saved.Hook = j.hook.id
		}
		if j.message != nil {
			saved.Message = new(j.message.saved())
		}
		list = append(list, saved)
	}
	return list
}

// saved needs s.mu. An attempt under way does not count: after a restart it is made again.
func (h *hook) saved() savedHook {
	saved := savedHook{
		ID: h.id, URI: h.uri, Scope: h.scope, Filter: h.filter, Enabled: h.enabled, Reliability: h.reliability,
		KeyID: h.keyID, Secret: h.secret, Undeliverable: []savedMessage{}, Queue: []savedMessage{},
	}
	for _, m := range h.undeliverable {
		saved.Undeliverable = append(saved.Undeliverable, m.saved())
	}
	if h.current != nil {
		current := h.current.saved()
		current.Attempts--
		saved.Queue = append(saved.Queue, current)
	}
	for _, m := range h.queue {
		saved.Queue = append(saved.Queue, m.saved())
	}
	return saved
}

func (m *message) saved() savedMessage {
	return savedMessage{m.id, m.kind, m.at, string(m.body), m.attempts, m.keep, m.held}
}

func (i *pinIdentity) saved() (*savedPINIdentity, error) {
	key, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		return nil, err
	}
	return &savedPINIdentity{Key: key, Certificate: i.certificate}, nil
}
