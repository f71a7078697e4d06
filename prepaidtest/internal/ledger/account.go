package ledger

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// computed are the members of a response that are not stored in the form of the response. The tag after names the member in front.
type computed struct {
	_ wire.Money `computed:"balance" in:"status" ref:"Amount" about:"Balance of the account."`
	_ time.Time  `computed:"first_transaction_occurred_at,omitzero" after:"is_plastic_enabled" in:"created" about:"First event that changed the balance: transaction, transfer or fee. In UTC."`
	_ time.Time  `computed:"last_transaction_occurred_at,omitzero" after:"first_transaction_occurred_at" in:"created" about:"Last event that changed the balance. In UTC."`
	_ bool       `computed:"is_compliant,omitzero" after:"name_on_card" emulator:"Always true."`
	_ string     `computed:"client_id,omitzero" after:"is_compliant" about:"Of the program."`
	_ string     `computed:"bpay_biller_code" after:"free_text" with:"with_bpay"`
	_ string     `computed:"direct_entry_bsb" after:"bpay_reference_number" with:"with_directentry"`
}

// AccountFields returns the members of an account in a response. The parameter part is "status", "created", or "" for all members.
func AccountFields(part string) []wire.Field {
	all := accountFields()
	n := slices.IndexFunc(all, func(f wire.Field) bool { return f.Part != "status" && (f.Part == "" || part == "status") })
	if part == "" {
		n = len(all)
	}
	return all[:n]
}

var accountFields = sync.OnceValue(func() []wire.Field {
	all := wire.FieldsOf(reflect.TypeFor[state.Account]())
	for _, f := range wire.FieldsOf(reflect.TypeFor[computed]()) {
		front := slices.IndexFunc(all, func(other wire.Field) bool { return other.Name == f.After }) // -1 for the first member
		all = slices.Insert(all, front+1, f)
	}
	return all
})

// Account is an account with its history. Its JSON is that of the saved state. Balance is used instead of the text that
// state.Account has for tests.
type Account struct {
	Balance wire.Money `json:"balance"`
	state.Account
	Items        []Item              `json:"transactions"`
	WalletTokens []state.WalletToken `json:"wallet_tokens,omitzero"`
	PIN          string              `json:"pin,omitzero"`
	PINTries     int                 `json:"pin_tries,omitzero"` // consecutive wrong tries; see the option PINTries
	Company      *Company            `json:"-"`
	indexed      Key
	personal     []byte // JSON of Cardholder, encoded once for all responses
}

// Register sets the cardholder of an account. The parameter p is never changed afterwards.
func (a *Account) Register(p *state.Cardholder) {
	a.Cardholder, a.personal = p, wire.AppendJSON(nil, p)
}

// Key is the search key of GET /accounts.
type Key struct{ ClientID, Key string }

// Append appends the members of AccountFields as a response has them (2.2). An optional group is included if
// with[name] is true for the name of its query parameter.
func (a *Account) Append(to []byte, part string, with map[string]bool) []byte {
	o := wire.Begin(to)
	data := reflect.ValueOf(&a.Account).Elem()
	for _, f := range AccountFields(part) {
		if (f.With == "" || with[f.With]) && !a.computed(&o, f.Name) {
			o.Member(f, data)
		}
	}
	return o.End()
}

// computed writes a member if its stored form is not that of the response. It returns false for any other member.
func (a *Account) computed(o *wire.Writer, name string) bool {
	switch name {
	case "balance":
		o.Money(`"balance":`, a.Balance)
	case "first_transaction_occurred_at":
		if len(a.Items) > 0 {
			o.Time(`"first_transaction_occurred_at":`, a.Items[0].OccurredAt)
		}
	case "last_transaction_occurred_at":
		if len(a.Items) > 0 {
			o.Time(`"last_transaction_occurred_at":`, a.Items[len(a.Items)-1].OccurredAt)
		}
	case "is_compliant":
		o.Boolean(`"is_compliant":`, true)
	case "client_id":
		o.Optional(`"client_id":`, a.Company.ClientID)
	case "personal":
		o.Raw(`"personal":`, a.personal)
	case "bpay_biller_code":
		o.Plain(`"bpay_biller_code":`, "123456")
	case "direct_entry_bsb":
		o.Plain(`"direct_entry_bsb":`, "633000")
	default:
		return false
	}
	return true
}
