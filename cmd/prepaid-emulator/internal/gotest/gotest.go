// Package gotest writes a Go test that sends requests of the emulator's log to a new emulator, over plain HTTP.
//
// A payment that succeeded, or had a fault, is made again. Any other response is armed as a fault, so that the test reproduces it
// whatever its cause was. Secrets and personal data are fictional, not those of the requests.
package gotest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// MaxRequests bounds the requests of a test.
const MaxRequests = 50

// file is the test: its verbs are the first and last request, twice, the accounts and the steps.
const file = `package emulator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// Requests %d to %d of the emulator, on a new one.
func TestRequests%dTo%d(t *testing.T) {
	server := prepaidtest.NewServer(t, prepaidtest.Options{})
	%s
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // sends each request once
	for _, step := range []struct{ operation, fault, target, body string; status int }{
		%s} {
		token, err := server.Client().Token(t.Context())
		if err != nil { t.Fatal(err) }
		if step.fault != "" {
			fault, err := prepaidtest.ParseFault(step.fault)
			if err != nil { t.Fatal(err) }
			server.Inject(step.operation, fault)
		}
		method, _, _ := strings.Cut(step.operation, " ")
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+step.target, strings.NewReader(step.body))
		if err != nil { t.Fatal(err) }
		request.Header.Set("Authorization", "Bearer "+token.AccessToken)
		request.Header.Set("Content-Type", "application/vnd."+server.Config().Vendor+"+json")
		status := 0 // the connection was cut
		if response, err := client.Do(request); err == nil {
			status = response.StatusCode
			_ = response.Body.Close()
		}
		if status != step.status { t.Errorf("%%s: status %%d, not %%d", step.operation, status, step.status) }
	}
	t.Logf("paid more than once: %%q", server.PaidTwice())
}
`

// Write returns the test of these requests, oldest first, as a file. It fails, with a plain reason, for a request of no operation.
func Write(requests ...prepaidtest.Request) (string, error) {
	if len(requests) == 0 || len(requests) > MaxRequests {
		return "", fmt.Errorf("select 1 to %d requests", MaxRequests)
	}
	var accounts, steps []string
	for _, r := range requests {
		if r.Template == "" {
			return "", errors.New("the reference has no such operation")
		}
		steps = append(steps, step(r))
		var body struct {
			Destination prepaid.AccountID `json:"destination_account_id"`
		}
		_ = json.Unmarshal([]byte(r.Body), &body) // without a destination, only the source takes part
		for _, id := range []prepaid.AccountID{r.AccountID, body.Destination} {
			account := fmt.Sprintf("server.AddAccount(prepaidtest.SeedAccount{ID: %q, Balance: \"1000000.00\"})\n", id)
			if pays(r) && id != "" && !slices.Contains(accounts, account) {
				accounts = append(accounts, account)
			}
		}
	}
	first, last := requests[0].Number, requests[len(requests)-1].Number
	text, err := format.Source(fmt.Appendf(nil, file, first, last, first, last, strings.Join(accounts, ""), strings.Join(steps, "")))
	if err != nil {
		return "", fmt.Errorf("the test cannot be written: %w", err)
	}
	return string(text), nil
}

// pays reports whether the test makes the request's payment.
func pays(r prepaidtest.Request) bool {
	return r.RequestID != "" && r.AccountStatus != "" && (r.FaultForm != "" || r.Status == http.StatusOK)
}

func step(r prepaidtest.Request) string {
	fault := r.FaultForm
	if !pays(r) && r.Status != 0 {
		fault = prepaidtest.RespondBody(r.Status, r.ResponseHeader.Get("Content-Type"), string(FillIn(r.ResponseBody))).String()
	}
	target, body := strings.TrimPrefix(r.Path, "/3.0/"), string(FillIn(r.Body))
	query := url.Values{}
	for name, values := range r.Query {
		if query[name] = values; personal.Hidden(name) {
			query.Set(name, "Fictional")
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if _, dated := r.RequestID.Date(); dated { // an ID with a date would expire
		body = strings.ReplaceAll(body, string(r.RequestID), fmt.Sprintf("request-%d", cmp.Or(r.RepeatOf, r.Number)))
	}
	return fmt.Sprintf("// Request %d\n{%#q, %#q, %#q, %#q, %d},\n", r.Number, r.Method+" "+r.Template, fault, target, body, r.Status)
}

// Moved reports whether a response says that money moved. A fault may have kept the response from the caller.
func Moved(r prepaidtest.Request) bool {
	return !r.Replayed && !strings.HasPrefix(r.FaultForm, "respond-body") && regexp.MustCompile(`"transaction_id": ?"?[1-9]`).MatchString(r.ResponseBody)
}

// FillIn replaces personal data and masked values by fictional ones, so that the emulator can read the body. It returns
// nil for a body that is not JSON, or is cut.
func FillIn(body string) []byte {
	members, err := personal.Decode(body)
	if err != nil {
		return nil
	}
	filled, _ := json.Marshal(personal.Replace(members, func(name string, value any) (any, bool) { // decoded JSON
		text, isText := value.(string)
		known, named := fictional()[name]
		switch {
		case named:
			return known, true
		case text == "[REDACTED]":
			return "fictional", true
		case !personal.Hidden(name) || isText && text == "":
			return nil, false
		case isText:
			return "Fictional", true
		}
		return nil, true
	}))
	return filled
}

// fictional returns values for the members that the emulator checks.
func fictional() map[string]any {
	return map[string]any{
		"hmac_key_secret": strings.Repeat("0123456789abcdef", 4), "ephemeral_key": strings.Repeat("A", 43) + "=", "certificates": []string{"fictional"},
		"destination_account_info": map[string]string{"bsb": "062000", "account_number": "12345678", "account_name": "Fictional Payee"},
		"name_on_card":             "FICTIONAL CARD", "ip_address": "192.0.2.1", "uri": "https://receiver.example/", // a query may have a key
		"registration": map[string]any{
			"first_name": "Fictional", "last_name": "Cardholder", "date_of_birth": "1990-05-01T00:00:00Z", "mobile_number": "+61491570156",
			"email_address": "fictional@example.com", "sex": "F", "primary_address": map[string]string{"state": "NSW", "country": "AU"},
		},
	}
}
