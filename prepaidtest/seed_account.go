package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// seedAccount is an account of a document. Its SeedAccount has no balance: that is opening and history.
type seedAccount struct {
	SeedAccount
	path    string
	opening wire.Money
	history []seedItem
	wallet  []WalletToken
}

// seedItem is a transaction of a document.
type seedItem struct {
	entry
	occurredAt time.Time
}

func (d *seedDocument) bindAccount(b *wire.Reader) {
	add := seedAccount{path: b.Path}
	add.CompanyID = DefaultCompany
	b.String("account_id", &add.ID).Min(1)
	b.String("external_account_id", &add.ExternalID).Min(1)
	b.Integer("company_id", &add.CompanyID)
	var balance wire.Money
	sum := b.Decimal("balance", &balance, true)
	b.String("client_account_key", &add.Key).Max(255).Form(wire.IsPrintableASCII, "must be ASCII from 0x20 to 0x7E")
	b.String("status", &add.Status).OneOf(accountStatuses()...)
	b.String("product_type", &add.ProductType).OneOf(productTypes()...)
	b.String("account_type", &add.AccountType).OneOf("proxy", "ledger")
	plastic := true
	b.Boolean("is_plastic_enabled", &plastic)
	add.PlasticDisabled = !plastic
	b.DateTime("plastic_expiry", &add.PlasticExpiry)
	b.DateTime("account_expiry", &add.AccountExpiry)
	b.String("display_name", &add.DisplayName).Max(100)
	b.String("name_on_card", &add.NameOnCard).Min(2).Max(19).Form(wire.IsNameOnCard, "may have 0-9, A-Z, hyphen, slash and full stop")
	personal := new(Personal)
	if b.Object("personal", personal.bind).Usable {
		add.Personal = personal
	}
	b.Object("free_text", add.FreeText.bind)
	add.Portal = bindPortal(b)
	b.String("mdes_config_id", &add.MDESConfigID).Max(10)
	b.String("corresponding_account_id", &add.CorrespondingAccountID).Min(1)
	var holder int64
	v := b.Integer("card_holder_type", &holder)
	v.Limit(holder == 1 || holder == 2, "must be 1 or 2")
	add.CardholderType = int(holder)
	history := b.Objects("transactions", add.bindItem)
	b.Objects("wallet_tokens", func(b *wire.Reader) {
		var token WalletToken
		token.bind(b)
		add.wallet = append(add.wallet, token)
	})
	if sum.Present {
		add.opening = add.openingFor(balance)
	}
	history.Limit(add.inRange(), "lead to a balance out of range")
	d.accounts = append(d.accounts, add)
}

// openingFor is what must be there before the history for balance to come out. It wraps round, which inRange finds.
func (add *seedAccount) openingFor(balance wire.Money) wire.Money {
	for _, booked := range add.history {
		balance -= booked.amount - booked.fee
	}
	return balance
}

// inRange tells whether every running balance can be held.
func (add *seedAccount) inRange() bool {
	running := add.opening
	for _, booked := range add.history {
		for _, step := range []wire.Money{booked.amount, -booked.fee} {
			next, ok := running.Plus(step)
			if !ok {
				return false
			}
			running = next
		}
	}
	return true
}

// putSeedAccount books the opening load a second before the history, so that it is first in time, or now when there
// is none. It needs s.mu.
func (s *Server) putSeedAccount(add seedAccount) {
	a := s.accounts[s.addSeed(s.companies[add.CompanyID], add.SeedAccount, 0)]
	opened := s.clock.Now()
	if len(add.history) > 0 {
		opened = add.history[0].occurredAt.Add(-time.Second)
	}
	if add.opening != 0 {
		s.book(a, entry{code: codeLoad, amount: add.opening, reference: "opening balance"}, opened)
	}
	for _, booked := range add.history {
		s.book(a, booked.entry, booked.occurredAt)
	}
	for _, token := range add.wallet {
		s.putWalletToken(a, token)
	}
}

// bindItem reads a transaction. The list is oldest first.
func (add *seedAccount) bindItem(b *wire.Reader) {
	var next seedItem
	var code string
	b.String("type", &code).Required().Form(wire.IsFourDigits, "must have four digits")
	next.code = typeCode(code)
	b.Decimal("amount", &next.amount, true).Required()
	fee := b.Decimal("fee_amount", &next.fee, true)
	fee.Limit(next.fee >= 0, "must be zero or more")
	at := b.DateTime("occurred_at", &next.occurredAt).Required()
	at = at.Limit(!next.occurredAt.After(b.Now), "must not be in the future")
	if n := len(add.history); n > 0 {
		at.Limit(!next.occurredAt.Before(add.history[n-1].occurredAt), "must not be before the transaction above it")
	}
	b.String("reference", &next.reference)
	b.String("card_acceptor_id", &next.merchant.acceptor)
	b.String("terminal_id", &next.merchant.terminal)
	b.String("acquirer_id", &next.merchant.acquirer)
	b.String("merchant_category_code", &next.merchant.category).Form(wire.IsFourDigits, "must have four digits")
	add.history = append(add.history, next)
}

// bind reads free text. What is left out is empty, since all twelve are answered.
func (f *FreeText) bind(b *wire.Reader) {
	b.String("free_text1", &f.Text1)
	b.String("free_text2", &f.Text2)
	b.String("free_text3", &f.Text3)
	b.String("free_text4", &f.Text4)
	b.String("free_text5", &f.Text5)
	b.String("free_text6", &f.Text6)
	b.String("free_text7", &f.Text7)
	b.String("free_text8", &f.Text8)
	b.String("free_int1", &f.Int1)
	b.String("free_int2", &f.Int2)
	b.String("free_dec1", &f.Dec1)
	b.String("free_dec2", &f.Dec2)
}
