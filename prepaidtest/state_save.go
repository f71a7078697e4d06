package prepaidtest

import (
	"cmp"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Save returns the text of the document. The state is locked only as long as it is copied.
func (s *service) Save() ([]byte, error) {
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
func (s *service) snapshot() (*stateDocument, error) {
	defer s.clock.Hold()()
	l := s.ledger.RLock()
	defer l.RUnlock()
	d := &stateDocument{
		Version: stateVersion, Clock: s.clock.Save(), Movements: []savedMovements{},
		Companies: s.savedCompanies(l), Accounts: savedAccounts(l),
		Tokens: sorted(s.tokens.Save(), func(token string, expires time.Time) savedToken { return savedToken{token, expires} }),
		Authorisations: sorted(s.simulator.approvals, func(_ string, a *authorisation) savedAuthorisation {
			return savedAuthorisation{a.id, a.account, a.kind, a.amount, a.merchant, a.item, authorisationStates()[a.state]}
		}),
		Redemptions: sorted(s.funding.redeemed, func(_ int64, r *redemption) savedRedemption {
			return savedRedemption{r.item, r.account, r.originating, r.correlation, r.amount, r.refunded, r.reversed}
		}),
		Templates: []savedTemplate{}, Runs: s.savedRuns(l), Transfers: []savedTransfer{}, DIPKeys: []savedDIPKey{}, DIPUsed: []string{},
		PINChanges: sorted(s.pins.changes, func(id string, p *pinChange) savedPINChange {
			return savedPINChange{id, p.account, p.device, p.otp, p.expires, p.finished}
		}),
		Hooks: []savedHook{}, Tasks: s.savedTasks(l),
	}
	for _, key := range s.transfers.queue {
		cached := s.transfers.cache[key]
		d.Transfers = append(d.Transfers, savedTransfer{key.operation, key.requestID, string(cached.body), cached.expires})
	}
	for key, count := range s.transfers.movements {
		d.Movements = append(d.Movements, savedMovements{key.operation, key.requestID, count})
	}
	slices.SortFunc(d.Movements, func(a, b savedMovements) int {
		return cmp.Or(strings.Compare(a.Operation, b.Operation), strings.Compare(a.RequestID, b.RequestID))
	})
	for _, name := range slices.Sorted(maps.Keys(s.reports.templates)) {
		if text := s.reports.templates[name].text; text != "" {
			d.Templates = append(d.Templates, savedTemplate{name, text})
		}
	}
	for key := range s.keys.keys {
		d.DIPKeys = append(d.DIPKeys, savedDIPKey{key.application, key.key})
	}
	slices.SortFunc(d.DIPKeys, func(a, b savedDIPKey) int {
		return cmp.Or(strings.Compare(a.Application, b.Application), strings.Compare(a.Key, b.Key))
	})
	for used := range s.keys.used {
		d.DIPUsed = append(d.DIPUsed, hex.EncodeToString(used[:]))
	}
	slices.Sort(d.DIPUsed)
	for _, h := range s.hooks.order {
		d.Hooks = append(d.Hooks, h.saved())
	}
	var err error
	d.IDs.PolicyRule = s.policies.last
	if d.IDs.Transaction, d.IDs.Source, err = s.ids.Save(); err != nil {
		return nil, err
	}
	if s.pins.identity != nil {
		d.PINIdentity, err = s.pins.identity.saved()
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

func (s *service) savedCompanies(v View) []savedCompany {
	list := []savedCompany{}
	for _, c := range v.Companies() {
		add := savedCompany{ID: c.ID, ClientID: c.ClientID, ProgramID: c.ProgramID, ProductType: c.ProductType, Loop: c.Loop}
		if p := s.policies.of(v, c.ID); p != nil { // lists may grow in place
			add.Policy = &policy{p.Closed, slices.Clone(p.Categories), slices.Clone(p.Merchants), slices.Clone(p.Terminals)}
		}
		list = append(list, add)
	}
	return list
}

// savedAccounts lists the accounts. Items and wallet tokens are only ever appended, and need no copy.
func savedAccounts(l View) []savedAccount {
	found := make(map[*account]int)
	for _, list := range l.byKey {
		for place, a := range list {
			found[a] = place
		}
	}
	list := make([]savedAccount, len(l.Accounts()))
	for i, a := range l.Accounts() {
		list[i] = savedAccount{
			ID: a.id, ExternalID: a.externalID, CardNumber: a.cardNumber, CompanyID: a.company.ID, Status: a.status,
			ProductType: a.productType, AccountType: a.accountType, Plastic: a.plastic, PlasticExpiry: a.plasticExpiry.UTC(),
			AccountExpiry: a.accountExpiry.UTC(), DisplayName: a.displayName, NameOnCard: a.nameOnCard, Key: a.clientAccountKey,
			BPAYReference: a.bpayReference, DirectEntry: a.directEntry, Personal: a.personal.personalData, FreeText: a.freeText,
			Portal: a.portal, MDESConfigID: a.mdesConfigID, CorrespondingAccountID: a.corresponding,
			CardholderType: a.holderType, Balance: a.balance, Items: slices.Clip(a.items), Wallet: slices.Clip(a.wallet),
			PIN: a.pin, PINTries: a.pinTries, Found: found[a],
		}
	}
	return list
}

// savedRuns lists the runs that are available or the last of their template.
func (s *service) savedRuns(_ View) []savedRun {
	runs := make(map[string]*reportRun)
	for _, last := range s.reports.last {
		runs[last.id] = last
	}
	maps.Copy(runs, s.reports.runs)
	return sorted(runs, func(id string, r *reportRun) savedRun {
		run := savedRun{
			ID: id, Template: r.template, Headers: r.headers, Requested: r.requested, Ready: r.ready, Counts: r.counts, CSV: r.text,
			Last: s.reports.last[r.template] == r, Forgotten: s.reports.runs[id] == nil,
		}
		if r.text != "" && s.reports.templates[r.template].text == r.text {
			run.CSV, run.AsNow = "", true
		}
		return run
	})
}

// savedTasks lists the work for later. A hook that was deleted has nothing left to do.
func (s *service) savedTasks(_ View) []savedTask {
	list := []savedTask{}
	for _, waiting := range s.clock.Waiting() {
		saved := savedTask{Due: waiting.Due}
		switch j := waiting.Job.(type) {
		case *simulatorTask:
			saved.Kind, saved.Input = j.kind, &savedInput{j.input.kind, j.input.account, j.input.authorisation, j.input.amount, j.input.merchant}
		case *hookTask:
			if j.hook.deleted {
				continue
			}
			saved.Kind, saved.Hook = j.kind, j.hook.id
			if j.message != nil {
				saved.Message = new(j.message.saved())
			}
		}
		list = append(list, saved)
	}
	return list
}

// saved needs the lock. An attempt under way does not count: after a restart it is made again.
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
