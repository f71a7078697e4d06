package prepaidtest

import "time"

// seedAccount is an account of a document. Its SeedAccount has no balance: that is opening and history.
type seedAccount struct {
	SeedAccount
	path    string
	opening money
	history []seedItem
	wallet  []WalletToken
}

// seedItem is a transaction of a document.
type seedItem struct {
	entry
	occurredAt time.Time
}

func (d *seedDocument) bindAccount(b *binder) {
	add := seedAccount{path: b.path}
	add.CompanyID = DefaultCompany
	b.string("account_id", &add.ID).min(1)
	b.string("external_account_id", &add.ExternalID).min(1)
	b.integer("company_id", &add.CompanyID)
	var balance money
	sum := b.decimal("balance", &balance, true)
	b.string("client_account_key", &add.Key).max(255).form(isPrintableASCII, "must be ASCII from 0x20 to 0x7E")
	b.string("status", &add.Status).oneOf(accountStatuses()...)
	b.string("product_type", &add.ProductType).oneOf(productTypes()...)
	b.string("account_type", &add.AccountType).oneOf("proxy", "ledger")
	plastic := true
	b.boolean("is_plastic_enabled", &plastic)
	add.PlasticDisabled = !plastic
	b.dateTime("plastic_expiry", &add.PlasticExpiry)
	b.dateTime("account_expiry", &add.AccountExpiry)
	b.string("display_name", &add.DisplayName).max(100)
	b.string("name_on_card", &add.NameOnCard).min(2).max(19).form(isNameOnCard, "may have 0-9, A-Z, hyphen, slash and full stop")
	personal := new(Personal)
	if b.object("personal", personal.bind).usable {
		add.Personal = personal
	}
	b.object("free_text", add.FreeText.bind)
	add.Portal = bindPortal(b)
	b.string("mdes_config_id", &add.MDESConfigID).max(10)
	b.string("corresponding_account_id", &add.CorrespondingAccountID).min(1)
	var holder int64
	v := b.integer("card_holder_type", &holder)
	v.limit(holder == 1 || holder == 2, "must be 1 or 2")
	add.CardholderType = int(holder)
	history := b.objects("transactions", add.bindItem)
	b.objects("wallet_tokens", func(b *binder) {
		var token WalletToken
		token.bind(b)
		add.wallet = append(add.wallet, token)
	})
	if sum.present {
		add.opening = add.openingFor(balance)
	}
	history.limit(add.inRange(), "lead to a balance out of range")
	d.accounts = append(d.accounts, add)
}

// openingFor is what must be there before the history for balance to come out. It wraps round, which inRange finds.
func (add *seedAccount) openingFor(balance money) money {
	for _, booked := range add.history {
		balance -= booked.amount - booked.fee
	}
	return balance
}

// inRange tells whether every running balance can be held.
func (add *seedAccount) inRange() bool {
	running := add.opening
	for _, booked := range add.history {
		for _, step := range []money{booked.amount, -booked.fee} {
			next, ok := running.plus(step)
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
	opened := s.clock.now()
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
func (add *seedAccount) bindItem(b *binder) {
	var next seedItem
	var code string
	b.string("type", &code).required().form(isCategory, "must have four digits")
	next.code = typeCode(code)
	b.decimal("amount", &next.amount, true).required()
	fee := b.decimal("fee_amount", &next.fee, true)
	fee.limit(next.fee >= 0, "must be zero or more")
	at := b.dateTime("occurred_at", &next.occurredAt).required()
	at = at.limit(!next.occurredAt.After(b.now), "must not be in the future")
	if n := len(add.history); n > 0 {
		at.limit(!next.occurredAt.Before(add.history[n-1].occurredAt), "must not be before the transaction above it")
	}
	b.string("reference", &next.reference)
	b.string("card_acceptor_id", &next.merchant.acceptor)
	b.string("terminal_id", &next.merchant.terminal)
	b.string("acquirer_id", &next.merchant.acquirer)
	b.string("merchant_category_code", &next.merchant.category).form(isCategory, "must have four digits")
	add.history = append(add.history, next)
}

// bind reads free text. What is left out is empty, since all twelve are answered.
func (f *FreeText) bind(b *binder) {
	b.string("free_text1", &f.Text1)
	b.string("free_text2", &f.Text2)
	b.string("free_text3", &f.Text3)
	b.string("free_text4", &f.Text4)
	b.string("free_text5", &f.Text5)
	b.string("free_text6", &f.Text6)
	b.string("free_text7", &f.Text7)
	b.string("free_text8", &f.Text8)
	b.string("free_int1", &f.Int1)
	b.string("free_int2", &f.Int2)
	b.string("free_dec1", &f.Dec1)
	b.string("free_dec2", &f.Dec2)
}
