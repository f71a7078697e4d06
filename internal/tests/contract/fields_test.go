package contract

import (
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/sample"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// ownFields are the fields of params and results that are no member of the document, and why.
func ownFields() map[string]string {
	const extra, unusual = "further members of the request", "says that zero or a negative amount is meant"
	return map[string]string{
		"Cardholder.UnlistedMembers": "members that the client does not know", "PortalIdentifier.UnlistedMembers": "members that the client does not know",
		"TransferParams.Extra": extra, "DirectEntryOutParams.Extra": extra, "RedeemFundingParams.Extra": extra, "RefundFundingParams.Extra": extra,
		"ReverseFundingParams.Extra": extra, "SimulateParams.Extra": extra,
		"TransferParams.LastSent": "of an earlier run", "DirectEntryOutParams.LastSent": "of an earlier run",
		"TransferResult.RequestID":         "of the request",
		"RedeemFundingParams.AllowUnusual": unusual, "RefundFundingParams.AllowUnusual": unusual, "ReverseFundingParams.AllowUnusual": unusual,
		"SimulateParams.AllowUnusual": unusual,
		"Paging.Prefetch":             "pages that are fetched ahead", "ListTransactionsParams.Before": "a limit that is not sent",
		"ListTransactionsParams.Paging": "page and size", "SearchAccountsParams.Paging": "page and size", "SearchCompanyParams.Paging": "page and size",
		"SearchAccountsParams.Include": "the parameters with_…", "SearchCompanyParams.Include": "the parameters with_…",
		"RunReportParams.WaitForPrevious": "how Run waits", "RunReportParams.OnStart": "how Run waits", "RunReportParams.Interval": "how Open waits",
		"RunReportParams.OnProgress": "how Open waits", "Message.Raw": "the message as received",
	}
}

// Each exported field of the params and results is a member of the document, or has a reason.
func TestFieldsHaveMembers(t *testing.T) {
	t.Parallel()
	own := ownFields()
	for of, members := range sample.AllFields() {
		name, _, _ := strings.Cut(of.Name(), "[")
		for field := range of.Fields() {
			if _, listed := members[field.Name]; field.IsExported() && !listed {
				require.NotEmpty(t, own[name+"."+field.Name], "%s.%s is no member of the document", name, field.Name)
				delete(own, name+"."+field.Name)
			}
		}
	}
	require.Empty(t, own, "members of the document, or no fields")
}

// The client leaves a member out of its JSON if it is zero and the document does not require it.
func TestFieldsAreOmitted(t *testing.T) {
	t.Parallel()
	var others []string
	for of, members := range sample.AllFields() {
		for name, m := range members {
			field, _ := of.FieldByName(name)
			omitted := strings.Contains(field.Tag.Get("json"), ",omit")
			if m.Of != nil && m.Of.Required != nil && omitted == m.Of.Requires(m.Name) {
				others = append(others, of.Name()+"."+name)
			}
		}
	}
	require.ElementsMatch(t, []string{
		"Cardholder.EmailAddress", "Cardholder.Sex", // required in one response only
		"DirectEntryOutParams.RequestID", "TransferParams.RequestID", // the client needs it
		"MerchantRule.ID", "TerminalRule.ID", // not in a request
		"Restrictions.Type", "TransferResult.TransactionID", // shown also if it is missing
	}, others)
}

// Each enumeration of the client has a constant for each value of the document, and no other.
func TestEnumerations(t *testing.T) {
	t.Parallel()
	declared, met := constants(t), map[string]bool{}
	for of, members := range sample.AllFields() {
		for name, s := range members {
			field, _ := of.FieldByName(name)
			kind := field.Type
			if kind.Kind() == reflect.Slice || kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			if len(s.Enum) == 0 || kind == reflect.TypeFor[string]() { // a word that no program decides by
				continue
			}
			met[kind.Name()] = true
			var values []string
			for _, value := range s.Enum {
				values = append(values, sample.Text(text(value), 0))
				if kind.Kind() == reflect.String {
					require.True(t, knows(kind, text(value)), "%s %v", kind, value)
					require.False(t, knows(kind, text(value)+"x"), kind.Name())
				}
			}
			slices.Sort(values)
			require.Equal(t, values, slices.Sorted(slices.Values(declared[kind.Name()])), "%s.%s", of.Name(), name)
		}
	}
	require.Greater(t, len(met), 15)
}

// knows calls Known with an enumeration's value.
func knows(kind reflect.Type, text string) bool {
	value := reflect.New(kind).Elem()
	value.SetString(text)
	return reflect.ValueOf(prepaid.Known).Call([]reflect.Value{value})[0].Bool()
}

func text(value any) string {
	if s, ok := sample.Plain(value).(string); ok {
		return s
	}
	return sample.Plain(value).(interface{ String() string }).String()
}

// constants returns the values of the client's typed constants, by type.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	values := map[string][]string{}
	for _, file := range tree.Source(t) {
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				constant := spec.(*ast.ValueSpec)
				kind, ok := constant.Type.(*ast.Ident)
				if !ok || len(constant.Values) != 1 {
					continue
				}
				if literal, ok := constant.Values[0].(*ast.BasicLit); ok {
					value := literal.Value
					if unquoted, err := strconv.Unquote(value); err == nil {
						value = unquoted
					}
					values[kind.Name] = append(values[kind.Name], value)
				}
			}
		}
	}
	return values
}
