package prepaidtest

import (
	"cmp"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// restore puts a saved state in place of that of a server that has none and does not run. What would later go
// wrong is refused here, by its place in the document.
func (s *Server) restore(text []byte) error {
	d, err := unmarshalState(text)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.Restore(d.Clock)
	for _, restore := range []func(*stateDocument) error{
		s.restoreIDs, s.restoreCompanies, s.restoreAccounts, s.restoreMoney, s.restoreReports, s.restoreKeys, s.restoreHooks, s.restoreTasks,
	} {
		if err := restore(d); err != nil {
			return err // what follows would only complain of what is missing now
		}
	}
	return nil
}

// wrong names the place of an element and the rule it breaks.
func wrong(list string, i int, rule string) error { return fmt.Errorf("%s[%d] %s", list, i, rule) }

func (s *Server) restoreIDs(d *stateDocument) error {
	s.policyIDs = d.IDs.PolicyRule
	if s.ids.Restore(d.IDs.Transaction, d.IDs.Source) != nil {
		return errors.New("ids.source cannot be read")
	}
	return nil
}

func (s *Server) restoreCompanies(d *stateDocument) error {
	for i, add := range d.Companies {
		if s.companies[add.ID] != nil {
			return wrong("companies", i, "is there twice")
		}
		c := &company{Company: Company{
			ID: add.ID, ClientID: add.ClientID, ProgramID: add.ProgramID, ProductType: add.ProductType, Loop: add.Loop,
		}}
		if p := add.Policy; p != nil {
			c.policy = &policy{closed: p.Closed, categories: p.Categories, merchants: p.Merchants, terminals: p.Terminals}
		}
		s.companies[add.ID] = c
	}
	return nil
}

func (s *Server) restoreAccounts(d *stateDocument) error {
	found := make(map[*account]int)
	for i, add := range d.Accounts {
		a := &account{
			id: add.ID, externalID: add.ExternalID, cardNumber: add.CardNumber, company: s.companies[add.CompanyID], status: add.Status,
			productType: add.ProductType, accountType: add.AccountType, plastic: add.Plastic, plasticExpiry: expires(add.PlasticExpiry),
			accountExpiry: expires(add.AccountExpiry), displayName: add.DisplayName, nameOnCard: add.NameOnCard,
			clientAccountKey: add.Key, bpayReference: add.BPAYReference, directEntry: add.DirectEntry, personal: register(add.Personal),
			freeText: add.FreeText, portal: add.Portal, mdesConfigID: add.MDESConfigID, corresponding: add.CorrespondingAccountID,
			holderType: add.CardholderType, balance: add.Balance, items: add.Items, wallet: add.Wallet, pin: add.PIN, pinTries: add.PINTries,
		}
		switch {
		case add.ID == "" || s.accounts[add.ID] != nil:
			return wrong("accounts", i, "has no account_id of its own")
		case a.company == nil:
			return wrong("accounts", i, "has no company of the document")
		case !slices.Contains(accountStatuses(), add.Status):
			return wrong("accounts", i, "has a status that is none of the eleven")
		case len(add.CardNumber) < 4:
			return wrong("accounts", i, "has a card_number that is too short")
		case !a.adopt(d.IDs.Transaction):
			return wrong("accounts", i, "has transactions that do not add up to its balance, or a number not given out yet")
		}
		s.add(a)
		found[a] = add.Found
	}
	for _, list := range s.byKey {
		slices.SortStableFunc(list, func(a, b *account) int { return cmp.Compare(found[a], found[b]) })
	}
	return nil
}

// adopt makes the restored items the account's own and checks them.
func (a *account) adopt(last int64) bool {
	var sum wire.Money
	for n := range a.items {
		i := &a.items[n]
		i.account = a.id
		var ok, paid bool
		sum, ok = sum.Plus(i.amount)
		sum, paid = sum.Plus(-i.fee)
		if !ok || !paid || sum != i.running || i.id > last {
			return false
		}
	}
	return sum == a.balance
}

func (s *Server) restoreMoney(d *stateDocument) error {
	for _, token := range d.Tokens {
		s.tokens[token.Token] = token.Expires
	}
	for _, add := range d.Transfers {
		key := transferKey{add.Operation, add.RequestID}
		s.transfers[key] = cachedTransfer{body: []byte(add.Answer), expires: add.Expires}
		s.transferQ = append(s.transferQ, key)
	}
	if len(s.transfers) != len(s.transferQ) {
		return errors.New("transfers has a request_id twice")
	}
	for _, add := range d.Movements {
		s.movements[transferKey{add.Operation, add.RequestID}] = add.Count
	}
	for i, add := range d.Authorisations {
		state := slices.Index(authorisationStates(), add.State)
		if state < 0 {
			return wrong("authorisations", i, "has an unknown state")
		}
		s.approvals[add.ID] = &authorisation{
			id: add.ID, account: add.Account, kind: add.Kind, amount: add.Amount, merchant: add.Merchant.merchant(), item: add.Item,
			state: authorisationState(state),
		}
	}
	for _, add := range d.Redemptions {
		s.redeemed[add.Item] = &redemption{
			account: add.Account, originating: add.Originating, correlation: add.Correlation, amount: add.Amount,
			refunded: add.Refunded, reversed: add.Reversed, item: add.Item,
		}
	}
	return nil
}

func (s *Server) restoreReports(d *stateDocument) error {
	for i, add := range d.Templates {
		write := csvReport(add.CSV)
		if write == nil {
			return wrong("templates", i, "has a csv without a header row, or that is not CSV")
		}
		s.templates[add.Name] = template{write, add.CSV}
	}
	for i, add := range d.Runs {
		run := &reportRun{
			id: add.ID, template: add.Template, headers: add.Headers, requested: add.Requested, ready: add.Ready,
			text: add.CSV, counts: add.Counts,
		}
		if add.AsNow {
			run.text = s.templates[add.Template].text
		}
		switch {
		case run.counts != nil:
			if !s.covers(run.counts) {
				return wrong("report_runs", i, "has item_counts that the accounts do not have")
			}
			run.write = s.settlement(run.counts)
		case run.text != "":
			if run.write = csvReport(run.text); run.write == nil {
				return wrong("report_runs", i, "has a csv without a header row, or that is not CSV")
			}
		}
		if !add.Forgotten {
			s.runs[run.id] = run
		}
		if add.Last {
			s.lastRun[run.template] = run
		}
	}
	return nil
}

// covers tells whether the ledger holds what the counts of a run fix. It needs s.mu.
func (s *Server) covers(counts []int) bool {
	if len(counts) > len(s.order) {
		return false
	}
	for i, n := range counts {
		if n < 0 || n > len(s.order[i].items) {
			return false
		}
	}
	return true
}

func (s *Server) restoreKeys(d *stateDocument) error {
	for _, add := range d.DIPKeys {
		s.dipKeys[dipKey{add.Application, add.Key}] = true
	}
	for i, text := range d.DIPUsed {
		var used [32]byte
		if len(text) != hex.EncodedLen(len(used)) || hexInto(used[:], text) != nil {
			return wrong("dip_used", i, "must be 32 bytes in hex")
		}
		s.dipUsed[used] = true
	}
	for i, add := range d.PINChanges {
		if s.accounts[add.Account] == nil {
			return wrong("pin_changes", i, "has no account of the document")
		}
		s.pinChanges[add.ID] = &pinChange{
			account: add.Account, device: add.Device, otp: add.OTP, expires: add.Expires, finished: add.Finished,
		}
	}
	if d.PINIdentity == nil {
		return nil
	}
	var err error
	s.pin, err = d.PINIdentity.identity()
	return err
}

func hexInto(to []byte, text string) error {
	_, err := hex.Decode(to, []byte(text))
	return err
}

func (saved *savedPINIdentity) identity() (*pinIdentity, error) {
	wrong := errors.New("pin_identity must be an RSA key and its certificate")
	parsed, err := x509.ParsePKCS8PrivateKey(saved.Key)
	if err != nil {
		return nil, wrong
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, wrong
	}
	certificate, err := x509.ParseCertificate(saved.Certificate)
	if err != nil || !key.PublicKey.Equal(certificate.PublicKey) {
		return nil, wrong
	}
	return &pinIdentity{key: key, certificate: saved.Certificate}, nil
}
