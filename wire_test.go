//go:build !prepaid_nofastpath

package prepaid

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/wire"
)

// plainBodies must be read on the fast path.
var plainBodies = []string{
	`{"balance":1,"personal":{"primary_address":{"city":"x"},"primary_address":null}}`,
	`{}`,
	` { "balance" : 12.50 , "status" : "active" } `,
	`{"account_id":"E1","external_account_id":"X","company_id":7,"balance":-3,"card_number":"5163**1","plastic_expiry":"2029-02-28T00:00:00Z",` +
		`"account_expiry":"2030-12-31T23:59:59Z","product_type":"gift","status":"later","is_plastic_enabled":true,"account_type":"proxy",` +
		`"first_transaction_occurred_at":null,"last_transaction_occurred_at":"2026-05-06T07:08:09.25+10:00","display_name":null,"name_on_card":"A",` +
		`"is_compliant":false,"client_id":"c","client_account_key":"k","bpay_biller_code":"1","bpay_reference_number":"2","direct_entry_bsb":"3",` +
		`"direct_entry_account_number":"4","mdes_config_id":"5","corresponding_account_id":"6","card_holder_type":2,` +
		`"personal":{"title":"","first_name":"Zo\u00eb \"Z\"","middle_name":"m","last_name":"Ölund","primary_address":{"address_line1":"1","address_line2":"2",` +
		`"address_line3":"3","city":"c","state":"NSW","country":"AU","postcode":"2000","more":1e5},"alternate_address":{"address_line1":"1","address_line2":"2",` +
		`"city":"c","state":"s","country":"AU","postcode":"p","x":null},"sex":"F","mobile_number":"1","phone_number":"2","date_of_birth":"1980-01-31T00:00:00Z",` +
		`"email_address":"a@b.example","driver_licence_number":"d","passport":{"passport_number":"p","passport_expiry":"2031-01-01","passport_issuing_country":"AUS","y":{}},"z":[]},` +
		`"free_text":{"free_text1":"1","free_text2":"2","free_text3":"3","free_text4":"4","free_text5":"5","free_text6":"6","free_text7":"7","free_text8":"8",` +
		`"free_int1":"9","free_int2":"10","free_dec1":"1.1","free_dec2":"1.2","q":"q"},"portal_identifier":{"client_id":"1","program_id":"2","cardholder_id":"3","w":true},` +
		`"unknown":[1,-2.5e-3,{"deep":[true,false,null,"a\\b\/"]},""]}`,
	`{"status":"first","personal":{"title":"a","last_name":"b"},"status":"second","personal":{"title":null},"is_compliant":true,"is_compliant":null}`,
	`{"personal":{"last_name":"b"},"personal":null,"free_text":null,"portal_identifier":null,"card_holder_type":null,"balance":"12.5"}`,
	`{"id":"17","parent_id":12.0,"amount":1e2,"merchant_category_code":"0742","occurred_at":"","reference":"` + strings.Repeat("long ", 50) + `"}`,
	`{"account_id":12,"external_account_id":-1.5e3,"status":7,"client_id":7,"client_account_key":0,"card_holder_type":1,"personal":{"postcode":1,"mobile_number":491570156,` +
		`"passport":{"passport_number":1234}},"free_text":{"free_int1":101,"free_dec1":1.10},"portal_identifier":{"client_id":12.0}}`,
	`{"id":17,"type":1118,"acquirer_id":12,"terminal_id":0,"reference":1.50,"amount_currency":36,"merchant_category_code":742,"amount":"-5","running_balance_amount":"0","fee_amount":null}`,
	`{"type":7,"merchant_category_code":"7","type_description":null,"fee_amount":null}`, `{"type":"7","type":8.0,"fee_amount":1,"fee_amount":null}`,
	`{"transaction_id":17,"correlation_id":"c"}`, `{"transaction_id":17,"correlation_id":7}`,
	`{"transaction_id":{"other":[1]},"correlation_id":null}`,
}

// otherBodies are left to decodeOptions, which accept some of them.
var otherBodies = []string{
	``, ` `, `null`, `[]`, `{`, `}`, `{]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1}x`, `{"a":1}{}`, `{"a":01}`, `{"a":1.}`, `{"a":+1}`, `{"a":tru}`, `{"a":nul}`,
	`{"a":"` + "\n" + `"}`, `{"a":"\x"}`, `{"a":"\ud800"}`, "{\"status\":\"\xff\"}", `{"\u0073tatus":"active"}`, `{"a":"`, `{"a":"\`, `{"a":[1 2]}`, `{"a":{"b":1}`,
	`{"status":true}`, `{"status":[7]}`, `{"status":07}`, `{"status":7.}`, `{"status":-}`, `{"status":12345678901234567890}`, `{"type":1e400}`, `{"type":0.5}`, `{"balance":true}`, `{"balance":""}`, `{"balance":1.}`, `{"balance":"1e5"}`, `{"balance":12345678901234567890123}`, `{"company_id":"12"}`, `{"company_id":12.0}`,
	`{"company_id":9223372036854775808}`, `{"company_id":-0}`, `{"company_id":007}`, `{"company_id":-}`, `{"card_holder_type":4294967296}`, `{"is_plastic_enabled":"true"}`, `{"is_plastic_enabled":1}`,
	`{"plastic_expiry":"2026-02-30T00:00:00Z"}`, `{"plastic_expiry":"2026-13-01T00:00:00Z"}`, `{"plastic_expiry":"0000-01-01T00:00:00Z"}`, `{"plastic_expiry":"2026-01-01T24:00:00Z"}`,
	`{"plastic_expiry":"2026-01-01"}`, `{"plastic_expiry":"2026-01-01T10:00"}`, `{"plastic_expiry":5}`, `{"plastic_expiry":"20\u00326-01-01T00:00:00Z"}`, `{"personal":[]}`, `{"personal":"x"}`,
	`{"personal":{"primary_address":null}}`, `{"personal":{"primary_address":3}}`, `{"personal":{"date_of_birth":"1980-02-31"}}`, `{"personal":{"date_of_birth":null}}`, `{"id":true}`, `{"id":1.50}`, `{"id":-}`,
	`{"merchant_category_code":742}`, `{"merchant_category_code":"742"}`, `{"merchant_category_code":null}`, `{"merchant_category_code":"` + "é" + `"}`, `{"transaction_id":-}`, `{"transaction_id":"\u00"}`,
	strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100), strings.Repeat(`{"a":`, 20_000),
}

// requiredMembers are the required members of all types.
const requiredMembers = `"account_id":"E","company_id":7,"balance":0,"status":"active","id":"1","code":"0742","amount":0,"running_balance_amount":0,"occurred_at":"2026-05-06"`

// sameAsOptions reads body, and body with the required members in front, in both ways. It reports whether one was plain. Plain text must
// read the same.
func sameAsOptions[T any](t *testing.T, body []byte) bool {
	t.Helper()
	with := []byte("{" + requiredMembers)
	if object, ok := bytes.CutPrefix(bytes.TrimSpace(body), []byte("{")); ok {
		if rest := bytes.TrimSpace(object); len(rest) == 0 || rest[0] != '}' {
			with = append(with, ',')
		}
		plain := same[T](t, body)
		return same[T](t, append(with, object...)) || plain
	}
	return same[T](t, body)
}

func same[T any](t *testing.T, body []byte) bool {
	t.Helper()
	var item T
	plain := wire.Read(body, any(&item).(wireReadable).readWire)
	var want T
	err := json.Unmarshal(body, &want, decodeOptions)
	if plain {
		require.NoError(t, err, "%s", body)
		require.Equal(t, want, item, "%s", body)
	}
	list := append(append(append([]byte{'['}, body...), ','), append(body[:len(body):len(body)], ']')...)
	if items, ok := readItems[T](list); ok {
		var wanted []T
		require.NoError(t, json.Unmarshal(list, &wanted, decodeOptions), "%s", list)
		require.Equal(t, wanted, items, "%s", list)
	} else {
		require.False(t, plain, "%s", list)
	}
	return plain
}

// comparisons are the types read on the fast path, except those inside others.
var comparisons = map[reflect.Type]func(*testing.T, []byte) bool{
	reflect.TypeFor[Account]():          sameAsOptions[Account],
	reflect.TypeFor[AccountSummary]():   sameAsOptions[AccountSummary],
	reflect.TypeFor[MerchantCategory](): sameAsOptions[MerchantCategory],
	reflect.TypeFor[Transaction]():      sameAsOptions[Transaction],
	reflect.TypeFor[transferResponse](): sameAsOptions[transferResponse],
}

func sameForAll(t *testing.T, body []byte) (plain int) {
	t.Helper()
	for _, same := range comparisons {
		if same(t, body) {
			plain++
		}
	}
	return plain
}

// Every type with a generated reader is a comparison, or inside one.
func TestEveryGeneratedReaderIsCompared(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(of.Elem())
		case reflect.Struct:
			seen[of.Name()] = true
			for field := range of.Fields() {
				walk(field.Type)
			}
		}
	}
	for of := range comparisons {
		walk(of)
	}
	source, err := os.ReadFile("wire_gen.go")
	require.NoError(t, err)
	readers := regexp.MustCompile(`(?m)^func \(v \*(\w+)\) read`).FindAllStringSubmatch(string(source), -1)
	require.NotEmpty(t, readers)
	for _, reader := range readers {
		require.True(t, seen[reader[1]], reader[1])
	}
}

func TestWireReaderReadsAsTheOptionsDo(t *testing.T) {
	t.Parallel()
	for _, body := range plainBodies {
		require.NotZero(t, sameForAll(t, []byte(body)), "not plain: %s", body)
		for cut := range len(body) { // truncated text is not plain
			sameForAll(t, []byte(body[:cut]))
		}
	}
	require.True(t, sameAsOptions[Account](t, []byte(plainBodies[2])))
	require.True(t, sameAsOptions[Transaction](t, []byte(plainBodies[5])))
	for _, body := range otherBodies {
		sameForAll(t, []byte(body))
	}
}

// The service's usual responses are plain; otherwise accounts and histories would be slow.
func TestWireReaderReadsTheFixtures(t *testing.T) {
	t.Parallel()
	body := func(name string) []byte {
		file, err := os.ReadFile("internal/tests/contract/testdata/" + name + ".json")
		require.NoError(t, err)
		var fixture struct {
			Response struct {
				Body jsontext.Value `json:"body"`
			} `json:"response"`
		}
		require.NoError(t, json.Unmarshal(file, &fixture))
		return fixture.Response.Body
	}
	require.True(t, sameAsOptions[Account](t, body("Accounts.Get/200")))
	require.True(t, sameAsOptions[transferResponse](t, body("Accounts.Transfer/200")))
	items, ok := readItems[Transaction](body("Accounts.Transactions/200"))
	require.True(t, ok)
	var want []Transaction
	require.NoError(t, json.Unmarshal(body("Accounts.Transactions/200"), &want, decodeOptions))
	require.Equal(t, want, items)
}

// Every string type of a response is read from a number, too.
func TestOptionsKnowEveryStringType(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(kind reflect.Type)
	walk = func(kind reflect.Type) {
		if seen[kind] {
			return
		}
		seen[kind] = true
		switch kind.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(kind.Elem())
		case reflect.Func: // an iterator
			walk(kind.In(0).In(0))
		case reflect.Struct:
			for field := range kind.Fields() {
				if field.IsExported() {
					walk(field.Type)
				}
			}
		case reflect.String:
			value := reflect.New(kind)
			require.NoError(t, json.Unmarshal([]byte(`5999`), value.Interface(), decodeOptions), kind)
			require.Equal(t, "5999", value.Elem().String())
			require.NoError(t, json.Unmarshal([]byte(`null`), value.Interface(), decodeOptions), kind)
			require.Empty(t, value.Elem().String())
			require.Error(t, json.Unmarshal([]byte(`true`), value.Interface(), decodeOptions), kind)
		}
	}
	walk(reflect.TypeFor[createdHook]())
	walk(reflect.TypeFor[transferResponse]())
	for _, op := range allOperations() {
		of, name, _ := strings.Cut(op.Name, ".")
		if service, ok := reflect.TypeFor[Client]().FieldByName(of); ok && op.class != classKeyed { // it reads a transferResponse
			method, _ := service.Type.MethodByName(name)
			walk(method.Type.Out(0))
		}
	}
	require.Contains(t, seen, reflect.TypeFor[MessageType]())
	code, _, _ := (&response{body: []byte(`{"error":7}`)}).errorShape()
	require.Empty(t, code, "the form of an error response is evidence")
}

func FuzzWireReader(f *testing.F) {
	for _, body := range append(plainBodies, otherBodies...) {
		if len(body) < 10_000 {
			f.Add([]byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		sameForAll(t, body)
		if !jsontext.Value(body).IsValid(syntaxOptions) {
			return
		}
		for name, value := range membersOf(body) { // Found and the library see the same members
			there := value.Kind() != jsontext.KindNull && string(value) != `""`
			require.Equal(t, there, wire.Found(body, name) == 1, "%q in %s", name, body)
		}
	})
}

// Payments are written byte for byte as the options write them.
func TestWireWriterWritesAsTheOptionsDo(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", "Zoë & <b>", "a\"b\\c/d", "tab\t line\n \x00 \x7f \u2028", "\U0001F4B3", "long enough for words of eight \x1f"} {
		for _, body := range []wireWritable{
			TransferParams{RequestID: RequestID(text), Amount: Cents(2550), SourceReference: text, DestinationReference: text,
				DestinationAccountID: AccountID(text), Type: TransferTypeLoad, InitiatorUsername: text},
			TransferParams{SourceReference: text, Type: -7},
			DirectEntryOutParams{RequestID: RequestID(text), Amount: MustAmount("-0.125"), SourceReference: text, DestinationReference: text,
				Destination: BankAccount{BSB: text, AccountNumber: text, AccountName: text}, BSB: text, InitiatingUserID: text},
			DirectEntryOutParams{},
		} {
			want, err := json.Marshal(body, encodeOptions)
			require.NoError(t, err)
			got, err := encodeAny(body, &operation{})
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		}
	}
}

// Params that are embedded in a caller's struct, which a raw call sends, have their further members too.
func TestEmbeddedExtraMembers(t *testing.T) {
	t.Parallel()
	for _, body := range []any{
		&struct{ SimulateParams }{SimulateParams{Extra: `{"a":1}`}}, struct{ TransferParams }{TransferParams{Extra: `{"a":1}`}},
		struct{ *RedeemFundingParams }{&RedeemFundingParams{Extra: `{"a":1}`}}, ReverseFundingParams{Extra: `{"a":1}`},
	} {
		encoded, err := encodeAny(body, &operation{})
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(string(encoded), `,"a":1}`), "%s", encoded)
		require.NotContains(t, string(encoded), "extra")
	}
	for _, unlisted := range []any{struct{ *Cardholder }{&Cardholder{UnlistedMembers: `{"a":1}`}}, &struct{ PortalIdentifier }{PortalIdentifier{UnlistedMembers: `{"a":1}`}}} {
		_, err := encodeAny(unlisted, &operation{})
		require.ErrorIs(t, err, errUnlisted)
	}
	for _, sent := range []any{struct{ Cardholder }{}, struct{ *PortalIdentifier }{}, Cardholder{UnlistedMembers: `{"a":1}`}} {
		_, err := encodeAny(sent, &operation{})
		require.NoError(t, err)
	}
	encoded, err := encodeAny(struct{ *RefundFundingParams }{}, &operation{})
	require.NoError(t, err)
	require.Equal(t, "{}", string(encoded))
}

// Invalid text is refused as the options refuse it.
func TestWireWriterRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []any{
		TransferParams{SourceReference: "bad \xff"}, TransferParams{Extra: `{"amount":1}`}, TransferParams{Extra: "x"}, SimulateParams{Extra: `x"b":1}`}, &ReverseFundingParams{Extra: `{"account_id":1}`},
		[]SimulateParams{{Extra: `{"a":1}`}},
	} {
		_, err := encodeAny(body, &operation{})
		require.Error(t, err)
	}
}

// A service that writes every date with a time, or every empty member, does not make long lists slow.
func TestCardholderIsKeptAtLittleCost(t *testing.T) {
	for _, member := range []string{`"title":""`, `"sex":"X"`, `"date_of_birth":"1990-05-03T14:00:00Z"`} {
		body := []byte("{" + requiredMembers + `,"personal":{"first_name":"A","last_name":"B","date_of_birth":"1990-05-03T00:00:00Z",` +
			`"primary_address":{"state":"WA","country":"AU"},` + member + `}}`)
		var account Account
		require.Less(t, testing.AllocsPerRun(10, func() { require.True(t, wire.Read(body, account.readWire)) }), 20.0, member)
		require.NotEmpty(t, account.Cardholder.received)
	}
}
