package ledger

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// member is a member of a response: its text with quotes and colon, and its field in state.Account if it is stored.
type member struct {
	name, quoted, include string
	stored                *wire.Field
}

// forms are the members of each form of an account in a response: Account, CreatedAccount or AccountSummary.
var forms = sync.OnceValue(func() map[string][]member {
	made := make(map[string][]member)
	for _, form := range []string{"Account", "CreatedAccount", "AccountSummary"} {
		schema, _ := reference.Emulator().Schemas.Get(form)
		for _, m := range schema.Properties {
			made[form] = append(made[form], member{m.Name, `"` + m.Name + `":`, m.Value.Include, stored()[m.Name]})
		}
	}
	return made
})

var stored = sync.OnceValue(func() map[string]*wire.Field {
	fields := make(map[string]*wire.Field)
	for _, f := range wire.FieldsOf(reflect.TypeFor[state.Account]()) {
		fields[f.Name] = &f
	}
	return fields
})

// AccountStatuses lists the eleven account statuses (3.1).
func AccountStatuses() []string {
	var all []string
	schema, _ := reference.Emulator().Schemas.Get("AccountStatus")
	for _, status := range schema.Enum {
		all = append(all, fmt.Sprint(status))
	}
	return all
}

// Stores reports whether a member of an account is stored as in a response.
func Stores(name string) bool { return stored()[name] != nil }

// Account is an account with its history. Its JSON is that of the saved state. Balance is used instead of the text that
// state.Account has for tests.
type Account struct {
	Balance wire.Money `json:"balance"`
	state.Account
	Items        []Item              `json:"transactions"`
	WalletTokens []state.WalletToken `json:"wallet_tokens,omitzero"`
	PIN          string              `json:"pin,omitzero"`
	PINTries     int                 `json:"pin_tries,omitzero"` // of states that earlier versions saved
	Company      *Company            `json:"-"`
	indexed      Key
}

// Key is the search key of GET /accounts.
type Key struct{ ClientID, Key string }

// Append appends the members of a form as a response has them (2.2). An optional group is included if with[name] is true for the name of
// its query parameter.
func (a *Account) Append(to []byte, form string, with map[string]bool) []byte {
	to = append(to, '{')
	data := reflect.ValueOf(&a.Account).Elem()
	for _, m := range forms()[form] {
		if m.include != "" && !with[m.include] {
			continue
		}
		value := a.computed(m.name)
		if value == nil && m.stored != nil {
			value = m.stored.Of(data)
		}
		if value != nil {
			to = append(wire.AppendJSON(append(to, m.quoted...), value), ',')
		}
	}
	to[len(to)-1] = '}' // instead of the last comma
	return to
}

// computed returns a member whose stored form is not that of the response; nil for any other member, and for an absent one.
func (a *Account) computed(name string) any {
	switch name {
	case "balance":
		return a.Balance
	case "first_transaction_occurred_at":
		if len(a.Items) > 0 {
			return wire.DateTime(a.Items[0].OccurredAt)
		}
	case "last_transaction_occurred_at":
		if len(a.Items) > 0 {
			return wire.DateTime(a.Items[len(a.Items)-1].OccurredAt)
		}
	case "is_compliant":
		return true
	case "client_id":
		if a.Company.ClientID != "" {
			return a.Company.ClientID
		}
	case "bpay_biller_code":
		return "123456"
	case "direct_entry_bsb":
		return "633000"
	}
	return nil
}
