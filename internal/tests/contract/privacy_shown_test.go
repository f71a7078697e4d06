package contract

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/sample"
)

// shownFields are the texts that may be seen in print, each with its reason: those that the document does not mark with x-redact, and some
// of the client's own. Nothing in them is a secret or says who a cardholder is.
var shownFields = sync.OnceValue(func() map[string]string {
	shown := map[string]string{}
	for of, members := range sample.AllFields() {
		name, _, _ := strings.Cut(of.Name(), "[")
		for field, s := range members {
			if s.Redact == "" {
				shown[strings.ToLower(name+"."+field)] = "the document"
			}
		}
	}
	for reason, fields := range map[string]string{
		"identifies an account, program or movement: what a log is searched by": `
			CallError.AccountID CallError.RequestID CallSummary.RequestID CallError.CorrelationID TransferResult.RequestID
			FindCreatedParams.ClientAccountKey FindCreatedParams.ExternalAccountID FindCreatedParams.ProgramClientID IssueParams.ProgramClientID
			FindMovementParams.AccountID FindMovementParams.Exclude FindMovementParams.ParentID FindMovementParams.Reference ReportRun.ID ReportRun.Template`,
		"a word of a fixed list, a code or a type": `
			APIError.Code Config.RefusalCodes Config.MediaTypes FindMovementParams.Types EnsureRulesParams.DefaultAction
			SearchAccountsParams.Include SearchCompanyParams.Include PINKeyOptions.Hash PINKeyOptions.MGF1Hash`,
		"a merchant, terminal or acquirer, and the operator's words about them": `
			EnsureRulesParams.Rules EnsureRulesParams.Reason FindMovementParams.CardAcceptorID FindMovementParams.TerminalID
			EnsureRulesResult.Added EnsureRulesResult.Left EnsureRulesResult.Missing EnsureRulesResult.Removed EnsureRulesResult.Replaced EnsureRulesResult.Unchanged`,
		"the caller's own set-up": "Config.BaseURL Config.UserAgent Config.Vendor Config.ClientID CheckResult.MediaType",
		"the client's own words": `
			CallError.Operation CheckResult.Warnings DecodeError.MediaType FieldError.Field FieldError.Rule Operation.Method Operation.Name Operation.Path
			TransportError.Step`,
		"a template, without values": "RawRequest.Method RawRequest.Path",
	} {
		for field := range strings.FieldsSeq(fields) {
			shown[strings.ToLower(field)] = reason
		}
	}
	return shown
})

// Each entry of the list is still a field, and can be seen.
func TestCanaryShownFieldsAreUpToDate(t *testing.T) {
	t.Parallel()
	fields, seen := map[string]bool{}, map[string]bool{}
	for _, sample := range canaryTypes(t) {
		maps.Copy(fields, sample.fields)
		for _, verb := range []string{"%+v", "%#v"} {
			for _, name := range canariesIn(fmt.Sprintf(verb, sample.values["value"]) + fmt.Sprintf(verb, sample.values["pointer"])) {
				seen[name] = true
			}
		}
	}
	for field, reason := range shownFields() {
		if reason == "the document" && !fields[field] {
			continue // no text
		}
		require.True(t, fields[field], "%s is no field", field)
		require.True(t, seen[field] || field == "apierror.code", "%s is not shown", field)
	}
}
