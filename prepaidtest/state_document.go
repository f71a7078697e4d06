package prepaidtest

import (
	"encoding/json"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// stateVersion is that of the document. It grows when an older reader would misread a newer document.
const stateVersion = 2

// stateDocument is everything that Save writes. Lists are in an order that depends on the state alone, so that the
// same state always makes the same text.
type stateDocument struct {
	Version        int                  `json:"version"`
	Clock          clock.State          `json:"clock"`
	IDs            savedIDs             `json:"ids"`
	Companies      []savedCompany       `json:"companies"`
	Accounts       []savedAccount       `json:"accounts"`
	Tokens         []savedToken         `json:"tokens"`
	Transfers      []savedTransfer      `json:"transfers"`
	Movements      []savedMovements     `json:"movements"`
	Authorisations []savedAuthorisation `json:"authorisations"`
	Redemptions    []savedRedemption    `json:"redemptions"`
	Templates      []savedTemplate      `json:"templates"`
	Runs           []savedRun           `json:"report_runs"`
	DIPKeys        []savedDIPKey        `json:"dip_keys"`
	DIPUsed        []string             `json:"dip_used"`
	PINChanges     []savedPINChange     `json:"pin_changes"`
	PINIdentity    *savedPINIdentity    `json:"pin_identity,omitzero"`
	Hooks          []savedHook          `json:"hooks"`
	Tasks          []savedTask          `json:"tasks"`
}

type savedIDs struct {
	Transaction int64  `json:"transaction"`
	PolicyRule  int64  `json:"policy_rule"`
	Source      []byte `json:"source,omitzero"` // of a seeded server
}

type savedCompany struct {
	ID          int64        `json:"id"`
	ClientID    string       `json:"client_id"`
	ProgramID   string       `json:"program_id"`
	ProductType string       `json:"product_type"`
	Loop        Loop         `json:"loop"`
	Policy      *savedPolicy `json:"policy,omitzero"`
}

type savedPolicy struct {
	Closed     bool           `json:"closed"`
	Categories []int64        `json:"categories,omitzero"`
	Merchants  []merchantRule `json:"merchants,omitzero"`
	Terminals  []terminalRule `json:"terminals,omitzero"`
}

// savedAccount ends with what the reference does not show.
type savedAccount struct {
	ID                     string            `json:"account_id"`
	ExternalID             string            `json:"external_account_id"`
	CardNumber             string            `json:"card_number"`
	CompanyID              int64             `json:"company_id"`
	Status                 string            `json:"status"`
	ProductType            string            `json:"product_type"`
	AccountType            string            `json:"account_type"`
	Plastic                bool              `json:"is_plastic_enabled"`
	PlasticExpiry          time.Time         `json:"plastic_expiry"`
	AccountExpiry          time.Time         `json:"account_expiry"`
	DisplayName            string            `json:"display_name,omitzero"`
	NameOnCard             string            `json:"name_on_card,omitzero"`
	Key                    string            `json:"client_account_key,omitzero"`
	BPAYReference          string            `json:"bpay_reference_number"`
	DirectEntry            string            `json:"direct_entry_account_number"`
	Personal               Personal          `json:"personal"`
	FreeText               FreeText          `json:"free_text"`
	Portal                 *PortalIdentifier `json:"portal_identifier,omitzero"`
	MDESConfigID           string            `json:"mdes_config_id,omitzero"`
	CorrespondingAccountID string            `json:"corresponding_account_id,omitzero"`
	CardholderType         int64             `json:"card_holder_type"`
	Balance                wire.Money        `json:"balance"`
	Items                  savedItems        `json:"transactions"`
	Wallet                 []WalletToken     `json:"wallet_tokens,omitzero"`
	PIN                    string            `json:"pin,omitzero"`
	PINTries               int               `json:"pin_tries,omitzero"`
	Found                  int               `json:"found,omitzero"` // place among the accounts with its client_account_key
}

type savedToken struct {
	Token   string    `json:"access_token"`
	Expires time.Time `json:"expires"`
}

// savedTransfer has the answer as text, since a repeated request gets it byte by byte.
type savedTransfer struct {
	Operation string    `json:"operation"`
	RequestID string    `json:"request_id"`
	Answer    string    `json:"answer"`
	Expires   time.Time `json:"expires"`
}

// savedMovements says how often a request_id was carried out.
type savedMovements struct {
	Operation string `json:"operation"`
	RequestID string `json:"request_id"`
	Count     int    `json:"count"`
}

type savedMerchant struct {
	Acceptor string `json:"card_acceptor_id,omitzero"`
	Terminal string `json:"terminal_id,omitzero"`
	Acquirer string `json:"acquirer_id,omitzero"`
	Category string `json:"merchant_category_code,omitzero"`
}

func (m savedMerchant) merchant() merchant {
	return merchant{m.Acceptor, m.Terminal, m.Acquirer, m.Category}
}

func (m merchant) saved() savedMerchant {
	return savedMerchant{m.acceptor, m.terminal, m.acquirer, m.category}
}

type savedAuthorisation struct {
	ID       string        `json:"authorization_id"`
	Account  string        `json:"account_id"`
	Kind     string        `json:"transaction_type"`
	Amount   wire.Money    `json:"amount"`
	Merchant savedMerchant `json:"merchant"`
	Item     int64         `json:"transaction_id"`
	State    string        `json:"state"`
}

// authorisationStates are the words for the states, by their number.
func authorisationStates() []string { return []string{"open", "reversed", "cleared", "uncleared"} }

type savedRedemption struct {
	Item        int64      `json:"transaction_id"`
	Account     string     `json:"account_id"`
	Originating int64      `json:"originating_transaction"`
	Correlation string     `json:"correlation_id"`
	Amount      wire.Money `json:"amount"`
	Refunded    wire.Money `json:"refunded"`
	Reversed    bool       `json:"reversed"`
}

type savedTemplate struct {
	Name string `json:"template"`
	CSV  string `json:"csv"`
}

// savedRun is fixed by Counts (the built-in report) or CSV; that of a function has neither.
type savedRun struct {
	ID        string    `json:"id"`
	Template  string    `json:"template"`
	Headers   bool      `json:"include_column_headers"`
	Requested time.Time `json:"requested"`
	Ready     time.Time `json:"ready"`
	Counts    []int     `json:"item_counts,omitzero"`
	CSV       string    `json:"csv,omitzero"`
	AsNow     bool      `json:"csv_of_template,omitzero"` // instead of CSV, when the template still has it
	Last      bool      `json:"last,omitzero"`            // the newest of its template
	Forgotten bool      `json:"forgotten,omitzero"`       // only held as the last
}

type savedDIPKey struct {
	Application string `json:"application_id"`
	Key         string `json:"key_id"`
}

type savedPINChange struct {
	ID       string    `json:"operation_id"`
	Account  string    `json:"account_id"`
	Device   string    `json:"device_id"`
	OTP      string    `json:"otp"`
	Expires  time.Time `json:"expires"`
	Finished bool      `json:"finished"`
}

// savedPINIdentity holds DER.
type savedPINIdentity struct {
	Key         []byte `json:"private_key"` // PKCS #8
	Certificate []byte `json:"certificate"`
}

type savedHook struct {
	ID            string         `json:"id"`
	URI           string         `json:"uri"`
	Scope         []int64        `json:"scope"`
	Filter        string         `json:"filter_spec"`
	Enabled       bool           `json:"enabled"`
	Reliability   string         `json:"reliability_mode"`
	KeyID         string         `json:"hmac_key_id"`
	Secret        string         `json:"hmac_key_secret"`
	Undeliverable []savedMessage `json:"undeliverable"`
	Queue         []savedMessage `json:"queue"`
}

// savedMessage has the body as text, since the same message has the same bytes in each attempt.
type savedMessage struct {
	ID       string    `json:"id"`
	Type     string    `json:"type"`
	At       time.Time `json:"timestamp"`
	Body     string    `json:"body"`
	Attempts int       `json:"attempts"`
	Keep     bool      `json:"keep,omitzero"`
	Held     bool      `json:"held,omitzero"`
}

// savedTask is a job that waits; which members there are follows from the kind.
type savedTask struct {
	Due     time.Time     `json:"due"`
	Kind    jobKind       `json:"kind"`
	Input   *savedInput   `json:"input,omitzero"`
	Hook    string        `json:"hook_id,omitzero"`
	Message *savedMessage `json:"message,omitzero"`
}

// savedInput is the request of a clear or reverse_clear.
type savedInput struct {
	Kind          string        `json:"transaction_type"`
	Account       string        `json:"account_id"`
	Authorisation string        `json:"authorization_id,omitzero"`
	Amount        wire.Money    `json:"amount"`
	Merchant      savedMerchant `json:"merchant"`
}

// savedItems is a history in the order booked.
type savedItems []item

type savedItem struct {
	ID         int64         `json:"id"`
	Parent     int64         `json:"parent_id,omitzero"`
	Type       typeCode      `json:"type"`
	Amount     wire.Money    `json:"amount"`
	Fee        wire.Money    `json:"fee_amount,omitzero"`
	Running    wire.Money    `json:"running_balance_amount"`
	OccurredAt time.Time     `json:"occurred_at"`
	Merchant   savedMerchant `json:"merchant,omitzero"`
	Reference  string        `json:"reference,omitzero"`
}

// MarshalJSON leaves out the account, in which the items stand.
func (s savedItems) MarshalJSON() ([]byte, error) {
	list := make([]savedItem, len(s))
	for n, i := range s {
		list[n] = savedItem{i.id, i.parent, i.code, i.amount, i.fee, i.running, i.occurredAt, i.merchant.saved(), i.reference}
	}
	return json.Marshal(list)
}

// UnmarshalJSON leaves the account to the caller.
func (s *savedItems) UnmarshalJSON(text []byte) error {
	var list []savedItem
	if err := unmarshalStrictly(text, &list); err != nil {
		return err
	}
	for _, i := range list {
		*s = append(*s, item{
			entry: entry{code: i.Type, amount: i.Amount, fee: i.Fee, parent: i.Parent, merchant: i.Merchant.merchant(), reference: i.Reference},
			id:    i.ID, running: i.Running, occurredAt: i.OccurredAt,
		})
	}
	return nil
}
