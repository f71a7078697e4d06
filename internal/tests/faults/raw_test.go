package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// rawRequest is a call that nothing is wrong with.
func rawRequest() prepaid.RawRequest {
	return prepaid.RawRequest{
		Method: "POST", Path: "/accounts/{id}/limits/{limit}", PathValues: map[string]string{"id": "EA-1", "limit": "daily.v2"},
		Query: url.Values{"b": {"2", "1 &"}, "a": {"x"}}, Body: map[string]string{"max": "100.00"},
	}
}

// A response is a success by its status and by who sent it. Whatever else came is not read as one.
func TestRawCallResponses(t *testing.T) {
	t.Parallel()
	unknown, applied, nothing := prepaid.OutcomeUnknown, prepaid.OutcomeApplied, prepaid.OutcomeNotProcessed
	for name, c := range map[string]struct {
		status          int
		mediaType, body string
		ignored         bool // out is nil
		never, read     prepaid.Outcome
		fails           bool
	}{
		"200":                         {status: 200, mediaType: harness.VendorJSON, body: `{"id":"1"}`},
		"202":                         {status: 202, mediaType: "application/json", body: `{"id":"1"}`},
		"204":                         {status: 204},
		"200, ignored":                {status: 200, mediaType: harness.VendorJSON, body: `{"id":"1"}`, ignored: true},
		"200 and no body, ignored":    {status: 200, ignored: true},
		"204, ignored":                {status: 204, ignored: true},
		"octets, ignored":             {status: 200, mediaType: harness.OctetStream, body: "\x00", ignored: true},
		"206":                         {status: 206, mediaType: harness.VendorJSON, body: `{"id":"1"}`, fails: true, never: unknown, read: nothing},
		"302":                         {status: 302, fails: true, never: unknown, read: nothing},
		"a page":                      {status: 200, mediaType: "text/html", body: harness.HTMLPage, fails: true, never: unknown, read: nothing},
		"a page, ignored":             {status: 200, mediaType: "text/html", body: harness.HTMLPage, ignored: true, fails: true, never: unknown, read: nothing},
		"a page as text, ignored":     {status: 200, mediaType: "text/plain", body: harness.HTMLPage, ignored: true, fails: true, never: unknown, read: nothing},
		"an empty page, ignored":      {status: 204, mediaType: "text/html", ignored: true, fails: true, never: unknown, read: nothing},
		"no body":                     {status: 200, mediaType: harness.VendorJSON, fails: true, never: unknown, read: applied},
		"null":                        {status: 200, mediaType: harness.VendorJSON, body: "null", fails: true, never: unknown, read: applied},
		"another type":                {status: 200, mediaType: harness.VendorJSON, body: `{"first":"1","id":["CANARY"]}`, fails: true, never: unknown, read: applied},
		"an error, ignored":           {status: 200, mediaType: harness.VendorJSON, body: `{"error":"server_error"}`, ignored: true, fails: true, never: unknown, read: nothing},
		"larger than allowed":         {status: 200, mediaType: harness.VendorJSON, body: `{"id":"` + strings.Repeat("C", 2000) + `"}`, fails: true, never: unknown, read: applied},
		"larger than allowed, ignore": {status: 200, mediaType: harness.VendorJSON, body: strings.Repeat("C", 2000), ignored: true, fails: true, never: unknown, read: applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for repeatable, want := range map[bool]prepaid.Outcome{false: c.never, true: c.read} {
				config := harness.Config("https://cards.example")
				config.Transport, config.MaxResponseBytes = harness.NewScript(harness.Respond(c.status, c.mediaType, c.body)), 1000
				type limits struct {
					First string `json:"first"`
					ID    string `json:"id"`
				}
				out := &limits{"before", "before"}
				var into any
				if !c.ignored {
					into = &out
				}
				err := harness.NewClient(t, config).Do(t.Context(), prepaid.RawRequest{Method: "GET", Path: "/limits", Repeatable: repeatable}, into)
				if !c.fails {
					require.NoError(t, err)
					if !c.ignored && c.body != "" {
						require.Equal(t, &limits{ID: "1"}, out)
					} else {
						require.Equal(t, c.ignored, out != nil)
					}
					continue
				}
				require.Equal(t, &limits{"before", "before"}, out)
				require.Equal(t, want, harness.CallError(t, err).Outcome, "%v", err)
				require.NotContains(t, fmt.Sprintf("%v %+v", err, err), "CANARY")
				require.NotContains(t, err.Error(), "CCC")
			}
		})
	}
}

// Types that embed a result of this package.
type (
	moreAccount struct {
		prepaid.Account
		New string `json:"new"`
	}
	pointedAccount struct {
		New string `json:"new"`
		*prepaid.Account
	}
	deeperAccount struct {
		moreAccount
		Balance string `json:"balance"` // with this name, the library sets no other
		Same    string `json:"new"`
	}
	nestedAccount struct {
		prepaid.Account
		Next []nestedAccount            `json:"next"`
		More map[string]*pointedAccount `json:"more"`
		New  string                     `json:"new"`
	}
	accountAndPolicy struct {
		prepaid.Account
		prepaid.Policy
	}
	moreTransaction struct {
		prepaid.Transaction
		New string `json:"new"`
	}
	morePolicy struct {
		*prepaid.Policy
		New string `json:"new"`
	}
	moreHook struct {
		prepaid.Hook
		New string `json:"new"`
	}
	taggedAccount struct {
		Inner prepaid.Account `json:",embed"`
	}
	hiddenAccount struct {
		account
		New string `json:"new"`
	}
	account    = prepaid.Account
	ownAccount struct {
		prepaid.Account
		read bool
	}
)

func (a *ownAccount) UnmarshalJSON([]byte) error {
	a.read = true
	return nil
}

// A result of this package is complete or an error wherever it stands in the caller's type, also if a struct embeds it. An account without
// a balance is not one of nothing, and a payment without a transaction ID is not one that was made.
func TestRawCallInventsNothing(t *testing.T) {
	t.Parallel()
	type page struct {
		Items []prepaid.AccountSummary `json:"items"`
		Next  string                   `json:"next"`
	}
	account := strings.TrimSuffix(harness.AccountJSON, "}") + `,"default_action":"deny","new":"x"}`
	lacks := strings.Replace(account, `"balance":12.5,`, "", 1)
	null := strings.Replace(account, `"balance":12.5,`, `"balance":null,`, 1)
	call := func(body string, out any) error {
		config := harness.NewScript(harness.Respond(200, harness.VendorJSON, body)).Config()
		err := harness.NewClient(t, config).Do(t.Context(), prepaid.RawRequest{Method: "POST", Path: "/limits"}, out)
		decoded := reflect.New(reflect.TypeOf(out).Elem())
		response := prepaid.RawResponse{StatusCode: 200, Header: http.Header{"Content-Type": {harness.VendorJSON}}, Body: []byte(body)}
		if failure := response.Decode(decoded.Interface()); err == nil {
			require.NoError(t, failure)
			require.Equal(t, out, decoded.Interface())
		} else {
			require.Equal(t, harness.As[*prepaid.DecodeError](t, err), failure)
		}
		return err
	}
	for form, types := range map[string][]any{
		`%s`:     {new(prepaid.Account), moreAccount{}, &pointedAccount{}, deeperAccount{}, nestedAccount{}, accountAndPolicy{}, taggedAccount{}, hiddenAccount{}},
		`[%s]`:   {[]*prepaid.Account{}, []moreAccount{}, []*pointedAccount{}, [1]deeperAccount{}},
		`[[%s]]`: {[1][]prepaid.Account{}},
		`{"a":%s}`: {map[string]prepaid.Account{}, map[string]pointedAccount{}, map[string]hiddenAccount{}, struct {
			A moreAccount `json:"a"`
		}{}},
		`{"items":[%s]}`:                               {page{}},
		`[{"items":[%s]}]`:                             {[]page{}},
		account[:len(account)-1] + `,"next":[%s]}`:     {nestedAccount{}},
		account[:len(account)-1] + `,"more":{"a":%s}}`: {nestedAccount{}},
	} {
		for _, of := range types {
			out := func() any { return reflect.New(reflect.TypeOf(of)).Interface() }
			require.NoError(t, call(fmt.Sprintf(form, account), out()), "%s %T", form, of)
			for _, body := range []string{lacks, null, `{"new":"x"}`, `{}`} {
				harness.RequireUndecodable(t, call(fmt.Sprintf(form, body), out()), prepaid.OutcomeUnknown)
			}
		}
	}
	for body, out := range map[string]any{
		`{"id":"1","amount":"1","running_balance_amount":0,"occurred_at":"2026-01-02T03:04:05Z","new":"x"}`: new(moreTransaction),
		`{"default_action":"allow","new":"x"}`: new(morePolicy), `{"id":"h","uri":"https://example.com","new":"x"}`: new(moreHook),
	} {
		require.NoError(t, call(body, out))
		require.Equal(t, "x", reflect.ValueOf(out).Elem().FieldByName("New").String())
		harness.RequireUndecodable(t, call(`{"new":"x"}`, out), prepaid.OutcomeUnknown)
	}
	var deeper deeperAccount
	require.NoError(t, call(account, &deeper))
	require.Equal(t, "12.5/12.50/x", fmt.Sprintf("%s/%v/%s", deeper.Balance, deeper.Account.Balance, deeper.Same))
	harness.RequireUndecodable(t, call(harness.AccountJSON, new(accountAndPolicy)), prepaid.OutcomeUnknown)
	require.NoError(t, call(`{}`, &ownAccount{}), "by the caller's own rules")

	whole := new(page)
	require.NoError(t, call(`{"items":[`+harness.AccountJSON+`,`+harness.AccountJSON+`],"next":7}`, whole))
	require.Equal(t, "12.50", whole.Items[1].Balance.String())
	require.Equal(t, "7", whole.Next)

	for _, id := range []string{`""`, `null`, `0`, `"failed"`} {
		body := `{"transaction_id":` + id + `,"correlation_id":"1"}`
		harness.RequireUndecodable(t, call(body, new(prepaid.TransferResult)), prepaid.OutcomeUnknown)
		harness.RequireUndecodable(t, call("["+body+"]", new([]prepaid.TransferResult)), prepaid.OutcomeUnknown)
	}
	harness.RequireUndecodable(t, call("null", new(prepaid.Amount)), prepaid.OutcomeUnknown)
	made := new(prepaid.TransferResult)
	require.NoError(t, call(`{"transaction_id":12,"correlation_id":"1"}`, made))
	require.Equal(t, prepaid.TransactionID("12"), made.TransactionID)
}

// A *json.RawMessage receives the body byte for byte, also of the two operations whose body is not JSON: a started run has an ID, and a key
// exchange cannot be repeated. Any other target would lose it, so nothing is sent.
func TestRawCallReceivesTheBody(t *testing.T) {
	t.Parallel()
	limits := prepaid.RawRequest{Method: "POST", Path: "/limits"}
	start := prepaid.RawRequest{Method: "GET", Path: "/reporting/templates/{templatename}", PathValues: map[string]string{"templatename": "t"}}
	exchange := prepaid.RawRequest{Method: "POST", Path: "/accounts/{id}/dip", PathValues: map[string]string{"id": "EA-1"}}
	for _, c := range []struct {
		request         prepaid.RawRequest
		mediaType, body string
		fails           bool
	}{
		{request: limits, mediaType: harness.VendorJSON, body: " {\"a\" : 1.0}\n"},
		{request: limits, mediaType: harness.VendorJSON, body: "{", fails: true},
		{request: limits, mediaType: harness.VendorJSON, body: " ", fails: true},
		{request: start, mediaType: harness.OctetStream, body: "r-1\n"},
		{request: start, mediaType: harness.VendorJSON, body: `"r-1"`},
		{request: start, mediaType: "text/html", body: harness.HTMLPage, fails: true},
		{request: start, mediaType: harness.VendorJSON, body: `{"error":"server_error"}`, fails: true},
		{request: exchange, mediaType: harness.OctetStream, body: " \x00\xff"},
		{request: exchange, mediaType: "text/html", body: harness.HTMLPage, fails: true},
		{request: exchange, mediaType: harness.OctetStream, fails: true},
	} {
		script := harness.NewScript(harness.Respond(200, c.mediaType, c.body))
		body := json.RawMessage("before")
		err := script.Client(t).Do(t.Context(), c.request, &body)
		if c.fails {
			require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome, "%v", err)
			require.Equal(t, "before", string(body))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.body, string(body))
		if c.request.Path != limits.Path {
			err = script.Client(t).Do(t.Context(), c.request, new(string))
			harness.RequireFaults(t, err, "", harness.Fault{Field: "out", Rule: "must be nil or a *json.RawMessage"})
			require.Len(t, script.Requests(), 1)
		}
	}
	result := prepaid.RawRequest{
		Method: "GET", Path: "/reporting/templates/{templatename}/reports/{reportid}", PathValues: map[string]string{"templatename": "t", "reportid": "r"},
	}
	var report prepaid.Report
	err := harness.NewScript(harness.Respond(204, harness.VendorJSON, "")).Client(t).Do(t.Context(), result, &report)
	require.ErrorIs(t, err, prepaid.ErrReportNotReady)
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
}

// A body is sent as the operations of this package send it, keys included, or not at all. A type that a caller's struct embeds hides none
// of the other members.
func TestRawCallSendsKeysAndNoNil(t *testing.T) {
	t.Parallel()
	script := harness.NewScript(harness.Respond(200, harness.VendorJSON, `{}`))
	client := script.Client(t)
	key, err := prepaid.EphemeralKeyFrom(make([]byte, 32))
	require.NoError(t, err)
	person, shown := harness.NewCardParams().Cardholder, `"ephemeral_key":"`+strings.Repeat("A", 43)+`="`
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	for _, c := range []struct {
		body any
		sent []string
	}{
		{prepaid.ExchangeKeyParams{EphemeralKey: key}, []string{shown}},
		{&prepaid.ExchangeKeyParams{EphemeralKey: key}, []string{shown}},
		{map[string]any{"ephemeral_key": key}, []string{shown}},
		{map[string][]prepaid.MCC{"add": {"0742"}}, []string{`{"add":["0742"]}`}},
		{person, []string{`"first_name":"Ada"`}},
		{map[string]any{"at": at, "secret": prepaid.NewSecret("s"), "person": person}, []string{`"at":"2026-01-02T02:04:05Z"`, `"secret":"s"`, `"first_name":"Ada"`}},
		{struct {
			prepaid.Cardholder
			Extra string `json:"extra"`
		}{*person, "kept"}, []string{`"extra":"kept"`, `"first_name":"Ada"`}},
		{struct {
			*prepaid.Cardholder
			Extra string `json:"extra"`
		}{person, "kept"}, []string{`"extra":"kept"`, `"first_name":"Ada"`}},
		{struct {
			prepaid.TransferParams
			Extra string `json:"extra"`
		}{harness.ValidTransfer(), "kept"}, []string{`"extra":"kept"`, `"request_id":"r"`}},
	} {
		require.NoError(t, client.Do(t.Context(), prepaid.RawRequest{Method: "POST", Path: "/limits", Body: c.body}, nil))
		sent := script.Requests()
		for _, text := range c.sent {
			require.Contains(t, sent[len(sent)-1].Body, text)
		}
	}
	sent := len(script.Requests())
	for _, body := range []any{(*prepaid.TransferParams)(nil), (*prepaid.DirectEntryOutParams)(nil), (*prepaid.Cardholder)(nil), (*struct{})(nil)} {
		err := client.Do(t.Context(), prepaid.RawRequest{Method: "POST", Path: "/limits", Body: body}, nil)
		harness.RequireFaults(t, err, "", harness.Fault{Field: "body", Rule: "must be a JSON object or array"})
	}
	require.Len(t, script.Requests(), sent)
}

// changing writes itself differently each time.
type changing struct{ times *int }

func (c changing) MarshalJSON() ([]byte, error) {
	*c.times++
	return fmt.Appendf(nil, `{"time":%d}`, *c.times), nil
}

// A request is fixed before the first attempt: later ones send the same bytes, whatever the caller's values do.
func TestRawCallIsEncodedOnce(t *testing.T) {
	t.Parallel()
	request := rawRequest()
	request.Repeatable, request.Body = true, changing{new(int)}
	script := harness.NewScript(func(*http.Request) (*http.Response, error) {
		request.PathValues["id"], request.Query["a"][0] = "EA-2", "y"
		return nil, harness.ErrCut
	})
	err := script.Client(t).Do(t.Context(), request, nil)
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
	sent := script.Requests()
	require.Len(t, sent, 3)
	for _, one := range sent {
		require.Equal(t, sent[0].Target, one.Target)
		require.Equal(t, `{"time":1}`, one.Body)
	}
}

// The simulator exists in the test environment only, and so does whatever is below its path.
func TestRawCallOfTheSimulator(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/simulation/later", "/Simulation/later", "/{a}/later"} {
		request := prepaid.RawRequest{Method: "POST", Path: path}
		if strings.Contains(path, "{") {
			request.PathValues = map[string]string{"a": "simulation"}
		}
		for test, requests := range map[bool]int{true: 1, false: 0} {
			script := harness.NewScript(harness.Respond(200, "", ""))
			config := harness.Config("https://cards.example")
			config.Transport, config.TestEnvironment = script, test
			summary := prepaid.CallSummary{}
			config.Trace = &prepaid.Trace{CallDone: func(_ context.Context, _ prepaid.Operation, c prepaid.CallSummary) { summary = c }}
			err := harness.NewClient(t, config).Do(t.Context(), request, nil)
			_, invalid := errors.AsType[*prepaid.ValidationError](err)
			require.Equal(t, !test, invalid, "%v", err)
			require.Len(t, script.Requests(), requests)
			require.Equal(t, prepaid.OutcomeOf(err), summary.Outcome, "it is observed")
		}
	}
}
