package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const (
	mediaType = "application/vnd.vendor+json"
	tokenBody = `{"access_token":"0123456789abcdef0123456789abcdef","token_type":"bearer","expires_in":86400}`
	pageItems = 100
)

// accountBody returns account i as JSON, with its personal group and without white space. No two accounts are
// equal.
func accountBody(i int) string {
	return fmt.Sprintf(`{"balance":%d.%02d,"card_number":"516349******%04d","company_id":%d,`+
		`"external_account_id":"X%010d","account_id":"EAID%016d","plastic_expiry":"2029-%02d-28T00:00:00Z",`+
		`"account_expiry":"2030-%02d-28T00:00:00Z","product_type":"reloadable","status":"active",`+
		`"is_plastic_enabled":true,"account_type":"proxy","first_transaction_occurred_at":"2025-01-02T03:04:%02dZ",`+
		`"last_transaction_occurred_at":"2026-05-06T07:08:%02dZ","display_name":"Employer %d meals",`+
		`"name_on_card":"A.CARDHOLDER-%d","is_compliant":true,"client_id":"acme-payroll",`+
		`"client_account_key":"employee-%06d","personal":{"title":"Ms","first_name":"Given%d",`+
		`"last_name":"Family%d","primary_address":{"address_line1":"%d Long Street","city":"Sydney",`+
		`"state":"NSW","country":"AU","postcode":"2000"},"sex":"F","mobile_number":"+6140%07d",`+
		`"date_of_birth":"19%02d-07-15T00:00:00Z","email_address":"person.%d@mail.example"}}`,
		100+i, i%100, i, 40000+i, i, i, 1+i%12, 1+i%12, i%60, i%60, i, i, i, i, i, i, i, 50+i%40, i)
}

// transactionBody returns item i of a history as JSON.
func transactionBody(i int) string {
	return fmt.Sprintf(`{"id":"%d","parent_id":"","account_id":"EAID%016d","type":"1118",`+
		`"type_description":"Purchase authorisation","amount":-%d.%02d,"amount_currency":"AUD","fee_amount":0.00,`+
		`"fee_amount_currency":"AUD","running_balance_amount":%d.%02d,"running_balance_amount_currency":"AUD",`+
		`"occurred_at":"2026-05-%02dT07:08:%02dZ","card_acceptor_id":"CA%013d","terminal_id":"T%07d",`+
		`"acquirer_id":"000123456","merchant_category_code":"5411","reference":"Invoice %d of the month"}`,
		9000000+i, 7, 1+i, i%100, 5000-i, i%100, 1+i%28, i%60, i, i, i)
}

// list joins n items into a JSON array.
func list(n int, item func(int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return "[" + strings.Join(items, ",") + "]"
}

// memory is a transport that responds to every request with the same body, and to token requests with a token.
type memory struct {
	header http.Header
	body   []byte
}

func newMemory(body string, items int) *memory {
	m := &memory{body: []byte(body)}
	m.header = http.Header{
		"Content-Type": {mediaType}, "Date": {"Mon, 01 Jun 2026 00:00:00 GMT"},
		"Content-Length": {strconv.Itoa(len(body))},
	}
	if items > 0 {
		m.header["X-Pagesize"] = []string{strconv.Itoa(items)}
		m.header["X-Totalpages"] = []string{"1"}
		m.header["X-Totalitems"] = []string{strconv.Itoa(items)}
	}
	return m
}

func (m *memory) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil { // as net/http does
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	if strings.HasSuffix(req.URL.Path, "/token") {
		return m.respond(req, []byte(tokenBody)), nil
	}
	return m.respond(req, m.body), nil
}

func (m *memory) respond(req *http.Request, body []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: m.header.Clone(), ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)), Request: req,
	}
}

// Both sides must be able to read all measured bodies, with equal results.
func TestBothSidesReadTheSame(t *testing.T) {
	body := list(pageItems, accountBody)
	require.Greater(t, len(body), 85_000)
	require.Less(t, len(body), 97_000)
	accounts := reflect.New(reflect.SliceOf(plainOf[prepaid.Account]()))
	require.NoError(t, json.Unmarshal([]byte(body), accounts.Interface()))
	client := newClient(t, base, newMemory(body, pageItems))
	page, err := client.Accounts.SearchCompanyPage(t.Context(), 40000, prepaid.SearchCompanyParams{})
	require.NoError(t, err)
	require.Len(t, page.Items, pageItems)
	ours, err := json.Marshal(page.Items)
	require.NoError(t, err)
	theirs, err := json.Marshal(accounts.Interface())
	require.NoError(t, err)
	require.Equal(t, string(ours), string(theirs))
}
