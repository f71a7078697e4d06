package ledger

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// AccountStatuses are the eleven values of 3.1.
func AccountStatuses() []string {
	return []string{
		"active", "pre_active", "inactive", "deactivated", "lost_or_stolen", "expired", "suspected_fraud", "closed",
		"inactive_pin_tries_exceeded", "vendor_inactive", "replaced",
	}
}

// AccountData are the members of an account (2.2), in the order of the reference's response. The tags define requests, seed
// documents, the saved state, responses and their schema: see wire.Field.
type AccountData struct {
	Balance                wire.Money              `json:"balance" in:"status" ref:"Amount" about:"Balance of the account."`
	CardNumber             string                  `json:"card_number" in:"status" seed:"-" about:"Masked card number."`
	CompanyID              int64                   `json:"company_id" in:"status" about:"Owning company (program)."`
	ExternalID             string                  `json:"external_account_id" in:"status" seed:"min=1" about:"External reference."`
	PlasticExpiry          time.Time               `json:"plastic_expiry" in:"status" about:"Expiry of the plastic, in UTC."`
	ProductType            string                  `json:"product_type" in:"status" rule:"in=reloadable|gift|loyalty"`
	Status                 string                  `json:"status" in:"status" rule:"account-status"`
	PlasticEnabled         bool                    `json:"is_plastic_enabled" in:"status"`
	_                      time.Time               `computed:"first_transaction_occurred_at,omitzero" in:"created" about:"First event that changed the balance: transaction, transfer or fee. In UTC."`
	_                      time.Time               `computed:"last_transaction_occurred_at,omitzero" in:"created" about:"Last event that changed the balance. In UTC."`
	ID                     string                  `json:"account_id" seed:"min=1" about:"External Account Id (EAID)."`
	AccountExpiry          time.Time               `json:"account_expiry" about:"Expiry of the account, in UTC."`
	AccountType            string                  `json:"account_type" rule:"in=proxy|ledger" about:"Proxy card, or ledger of salary packaging (benefit)."`
	DisplayName            string                  `json:"display_name,omitzero" sent:"max=100" about:"Name given by the client; in salary packaging employer and benefit."`
	NameOnCard             string                  `json:"name_on_card,omitzero" sent:"min=2,max=19,name-on-card" about:"Name engraved on the card."`
	_                      bool                    `computed:"is_compliant,omitzero" emulator:"Always true."`
	_                      string                  `computed:"client_id,omitzero" about:"Of the program."`
	Key                    string                  `json:"client_account_key,omitzero" rule:"max=255,ascii" about:"Key of salary packaging."`
	Portal                 *state.PortalIdentifier `json:"portal_identifier,omitzero" ref:"PortalIdentifier"`
	Cardholder             state.Cardholder        `json:"personal" with:"with_personal" ref:"Personal"`
	FreeText               state.FreeText          `json:"free_text" with:"with_freetext" ref:"FreeText"`
	_                      string                  `computed:"bpay_biller_code" with:"with_bpay"`
	BPAYReference          string                  `json:"bpay_reference_number" seed:"-" with:"with_bpay"`
	_                      string                  `computed:"direct_entry_bsb" with:"with_directentry"`
	DirectEntry            string                  `json:"direct_entry_account_number" seed:"-" with:"with_directentry"`
	MDESConfigID           string                  `json:"mdes_config_id,omitzero" sent:"max=10" with:"with_tokeninfo,single" about:"Configuration of the wallet token service."`
	CorrespondingAccountID string                  `json:"corresponding_account_id,omitzero" seed:"min=1" with:"with_correspondingaccountid,single"`
	CardholderType         int64                   `json:"card_holder_type" sent:"holder-type" with:"with_cardholdertype,single"`
}

// Rules implements wire.Named.
func (*AccountData) Rules() map[string]func(wire.Value) wire.Value {
	return map[string]func(wire.Value) wire.Value{
		"account-status": func(v wire.Value) wire.Value { return v.OneOf(AccountStatuses()...) },
		"holder-type":    func(v wire.Value) wire.Value { return v.Between(1, 2, "must be 1 or 2") },
	}
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

var accountFields = sync.OnceValue(func() []wire.Field { return wire.FieldsOf(reflect.TypeFor[AccountData]()) })

// Account is an account with its history. Its JSON is that of the saved state.
type Account struct {
	AccountData
	Items        []Item              `json:"transactions"`
	WalletTokens []state.WalletToken `json:"wallet_tokens,omitzero"`
	PIN          string              `json:"pin,omitzero"`
	PINTries     int                 `json:"pin_tries,omitzero"` // consecutive wrong tries; see the option PINTries
	Company      *Company            `json:"-"`
	indexed      Key
	personal     []byte // JSON of Cardholder, encoded once for all responses
}

// Register sets the cardholder of an account.
func (a *Account) Register(p state.Cardholder) { a.Cardholder, a.personal = p, wire.AppendJSON(nil, p) }

// Key is the search key of GET /accounts.
type Key struct{ ClientID, Key string }

// Append appends the members of AccountFields as a response has them (2.2). An optional group is included if
// with[name] is true for the name of its query parameter.
func (a *Account) Append(to []byte, part string, with map[string]bool) []byte {
	o := wire.Begin(to)
	data := reflect.ValueOf(&a.AccountData).Elem()
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
