package contract

import (
	"context"
	"encoding/base64"
	"io"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
)

// Canaries that a limit keeps from having the usual form.
const (
	canaryName     = "CNRY/NAME-ON.CARD"
	canaryNumber   = "99887766554433"
	canaryPostcode = "Cnry7Postcode7"
	canaryHMAC     = "c0ffee0ddba11c0ffee0ddba11c0ffee0ddba11c0ffee0ddba11c0ffee0ddba1"
)

// canaryCall is one exported call with canaries in everything that it sends but its ids.
type canaryCall struct {
	name string
	call func(ctx context.Context, c *prepaid.Client) error
}

func canaryCreate() prepaid.CreateAccountParams {
	values, _ := canaryRequest(reference.Read().Operation("Accounts.Create")).Arguments() // TestRequests reports an error
	return values[0].(prepaid.CreateAccountParams)
}

func canaryRaw() prepaid.RawRequest {
	return prepaid.RawRequest{
		Method: "PUT", Path: "/accounts/{id}/expiry", PathValues: map[string]string{"id": canaryOf("Path", "Value")},
		Query: url.Values{"name": {canaryOf("Query", "Raw")}}, Body: map[string]string{canaryOf("Sent", "Member"): canaryOf("Sent", "Raw")},
	}
}

// canaryRequest has a canary in each text that no limit forbids, but in no ID.
func canaryRequest(o *reference.Operation) *sample.Request {
	r := sample.NewRequest(o, true)
	for _, name := range []string{"first_name", "last_name", "mobile"} {
		if r.Query.Has(name) {
			r.Query.Set(name, canaryOf("Query", strings.ReplaceAll(name, "_", "")))
		}
	}
	limited := map[string]string{
		"name_on_card": canaryName, "account_number": canaryNumber, "postcode": canaryPostcode, "hmac_key_secret": canaryHMAC, "passport_number": "cnry_p_n_",
		"ephemeral_key": base64.StdEncoding.EncodeToString([]byte(canaryOf("Sent", "EphemeralKey") + "0123456789")[:32]),
		"email_address": canaryOf("Sent", "Mail") + "@example.com", "uri": "https://" + canaryOf("Sent", "User") + ":x@hooks.example/a",
	}
	for _, m := range requestMembers(o.Request.JSON(), nil, []string{""}) {
		name, s := m.path[len(m.path)-1], m.schema
		canary := limited[name]
		if canary == "" && s.Type[0] == "string" && s.Pattern == "" && s.Format == "" && s.Enum == nil && (s.MaxLength == 0 || s.MaxLength >= 30) && !strings.HasSuffix(name, "id") && !strings.Contains(name, "_id") {
			canary = canaryOf("Sent", strings.ReplaceAll(name, "_", ""))
		}
		if canary != "" {
			r = r.With(m.path, canary)
		}
	}
	return r
}

// canaryCalls is every call of every service.
func canaryCalls(t *testing.T) (calls []canaryCall) {
	t.Helper()
	for _, o := range reference.Read().Operations {
		r := canaryRequest(o)
		for _, name := range []string{o.Name, o.Name + "Page"} {
			if service, method, _ := strings.Cut(name, "."); method != "" && hasMethod(service, method) {
				calls = append(calls, canaryCall{name, func(ctx context.Context, c *prepaid.Client) error {
					_, err := r.CallMethod(ctx, c, name)
					return err
				}})
			}
		}
	}
	with := func(operation string, values ...any) {
		calls = append(calls, canaryCall{operation, harness.Calling(operation, values...)})
	}
	run, day := prepaid.ReportRun{Template: "t", ID: "1"}, canaryDate.Time(nil)
	with("Accounts.Issue", prepaid.IssueParams{Account: canaryCreate(), ProgramClientID: "client", VisibleWithin: 1})
	with("Accounts.FindCreated", prepaid.FindCreatedParams{ProgramClientID: "client", ClientAccountKey: "key", VisibleWithin: 1})
	with("Accounts.FindMovement", prepaid.FindMovementParams{AccountID: "eaid", Amount: prepaid.Cents(1), From: day, To: day, VisibleWithin: 1})
	with("Accounts.DiagnoseTransfer", "eaid", prepaid.TransferParams{DestinationAccountID: "to"})
	with("Policy.EnsureCategories", 42, prepaid.EnsureRulesParams[prepaid.MCC]{
		DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MCC{"7995"}, Reason: canaryOf("Sent", "Reason"),
	})
	with("Policy.EnsureMerchants", 42, prepaid.EnsureRulesParams[prepaid.MerchantRule]{
		DefaultAction: prepaid.PolicyActionAllow, Reason: canaryOf("Sent", "Reason"), Rules: []prepaid.MerchantRule{
			{AcquirerID: 1, CardAcceptorID: canaryOf("Sent", "Acceptor"), Description: canaryOf("Sent", "Description")},
		},
	})
	with("Policy.EnsureTerminals", 42, prepaid.EnsureRulesParams[prepaid.TerminalRule]{
		DefaultAction: prepaid.PolicyActionAllow, Reason: canaryOf("Sent", "Reason"), Rules: []prepaid.TerminalRule{
			{AcquirerID: 1, CardAcceptorID: canaryOf("Sent", "Acceptor"), TerminalID: canaryOf("Sent", "Terminal"), Description: canaryOf("Sent", "Description")},
		},
	})
	return append(calls,
		canaryCall{"Client.Check", func(ctx context.Context, c *prepaid.Client) error {
			_, err := c.Check(ctx)
			return err
		}},
		canaryCall{"Client.Do", func(ctx context.Context, c *prepaid.Client) error {
			var out struct {
				ID      int       `json:"id"`
				Balance int       `json:"balance"`
				Status  time.Time `json:"status"`
			}
			return c.Do(ctx, canaryRaw(), &out)
		}},
		canaryCall{"Reporting.Open", func(ctx context.Context, c *prepaid.Client) error {
			return readReport(c.Reporting.Open(ctx, run, prepaid.RunReportParams{}))
		}},
		canaryCall{"Reporting.Run", func(ctx context.Context, c *prepaid.Client) error {
			return readReport(c.Reporting.Run(ctx, "t", prepaid.RunReportParams{}))
		}})
}

func hasMethod(service, method string) bool {
	field, _ := reflect.TypeFor[prepaid.Client]().FieldByName(service)
	_, ok := field.Type.MethodByName(method)
	return ok
}

// readReport reads a streamed report to its end in one of the two ways that keep it.
func readReport(r *prepaid.ReportReader, err error) error {
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Run().Template == "t" && r.Run().ID == "1" {
		for _, err := range r.Rows() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	_, err = io.Copy(io.Discard, r)
	return err
}

// A new operation has to be added to canaryCalls.
func TestCanaryCallsAreComplete(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{"Client.Token": true, "Client.Close": true, "Client.Format": true, "Client.LogValue": true, "Client.With": true, "Accounts.NotBefore": true, "Accounts.AwaitRepeat": true, "Accounts.Evidence": true, "Accounts.UseEvidence": true} // TestCanaryClient; no call
	for _, c := range canaryCalls(t) {
		require.False(t, listed[c.name], c.name)
		listed[c.name] = true
	}
	count := 0
	for _, service := range []any{
		&prepaid.Client{}, &prepaid.AccountsService{}, &prepaid.PolicyService{}, &prepaid.ReportingService{}, &prepaid.FundingService{}, &prepaid.SimulationService{}, &prepaid.PINService{}, &prepaid.HooksService{},
	} {
		kind := reflect.TypeOf(service)
		for method := range kind.Methods() {
			name := strings.TrimSuffix(kind.Elem().Name(), "Service") + "." + method.Name
			require.True(t, listed[name], name)
			count++
		}
	}
	require.Len(t, listed, count)
}
