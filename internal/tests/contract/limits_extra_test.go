package contract

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Further members are sent after all others, and never replace one.
func TestExtraMembers(t *testing.T) {
	t.Parallel()
	validated(t, harness.ValidTransfer, prepaid.TransferParams.Validate,
		requireExtra(t, "Accounts.Transfer", harness.ValidTransfer, func(p *prepaid.TransferParams) *prepaid.ExtraMembers { return &p.Extra }, "eaid"))
	validated(t, harness.ValidDirectEntry, prepaid.DirectEntryOutParams.Validate,
		requireExtra(t, "Accounts.DirectEntryOut", harness.ValidDirectEntry, func(p *prepaid.DirectEntryOutParams) *prepaid.ExtraMembers { return &p.Extra }, "eaid"))
	requireExtra(t, "Funding.Redeem", harness.ValidRedeem, func(p *prepaid.RedeemFundingParams) *prepaid.ExtraMembers { return &p.Extra })
	requireExtra(t, "Funding.Reverse", harness.ValidReverse, func(p *prepaid.ReverseFundingParams) *prepaid.ExtraMembers { return &p.Extra })
	requireExtra(t, "Funding.Refund", harness.ValidRefund, func(p *prepaid.RefundFundingParams) *prepaid.ExtraMembers { return &p.Extra })
	for name := range simulateCalls() {
		requireExtra(t, "Simulation."+name, validSimulate, func(p *prepaid.SimulateParams) *prepaid.ExtraMembers { return &p.Extra })
	}
}

// requireExtra checks the bytes that are sent, and the rows that it returns.
func requireExtra[P any](t *testing.T, operation string, valid func() P, at func(*P) *prepaid.ExtraMembers, path ...any) []limit[P] {
	t.Helper()
	call, params := method[P](operation, path...), valid()
	sent := func() string {
		return sends(t, operation, func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, params) }).body
	}
	plain, _ := strings.CutSuffix(sent(), "}")
	*at(&params) = ` {"z":{"b": 1.10, "a":[2, 1]}, "A-9":12345678901234567890, "m":"\u00e9\/" }`
	require.Equal(t, plain+`,"A-9":12345678901234567890,"m":"é/","z":{"a":[2,1],"b":1.10}}`, sent())

	var rows []limit[P]
	row := func(field, rule, bad, good string) {
		rows = append(rows, limit[P]{
			ref: operation, field: field, rule: rule, shown: "q7Zx", bad: put(at, prepaid.ExtraMembers(bad)), good: put(at, prepaid.ExtraMembers(good)),
		})
	}
	all := operations.All()
	names := strings.Fields(all[slices.IndexFunc(all, func(op operations.Operation) bool { return op.Name == operation })].Request)
	if len(path) > 0 {
		names = append(names, "id", "account_id")
	}
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, ".") }) {
		careless := strings.ReplaceAll(strings.ToUpper(name), "_", "-")
		for _, spelled := range []string{name, fmt.Sprintf(`\u%04x`, careless[0]) + careless[1:], strings.ReplaceAll(name, "_", "")} {
			row("extra."+name, "is a member of the request already", `{"q7Zx":"q7Zx","`+spelled+`":"q7Zx"}`, `{"new_`+name+`":"q7Zx"}`)
		}
	}
	for _, bad := range []string{
		"q7Zx", `"q7Zx"`, `["q7Zx"]`, `{"q7Zx":1`, `{"q7Zx":1}{}`, "{\"q7Zx\":\"\xff\"}", "null", "{}", " ",
		`{"q7Zx":1,"q7Zx":1}`, `{"a":{"q7Zx":1,"q7Zx":1}}`, `{"a":"` + strings.Repeat("q7Zx", 1022) + `x"}`,
	} {
		row("extra", "must be a JSON object with members, none of them twice, of at most 4096 bytes", bad, `{"a":"`+strings.Repeat("q7Zx", 1022)+`"}`)
	}
	for _, bad := range []string{`{"":1}`, `{"_":1}`, `{"q7Zx q7Zx":1}`, `{"q7Zx.a":1}`, `{"q7Zx\u017f":1}`, `{"q_7zx":1,"q7Zx":1}`} {
		row("extra", "must have names of letters, digits, '_' and '-' that differ in more than case, '_' and '-'", bad, `{"A-z_0":null}`)
	}
	requireLimits(t, valid, call, rows...)
	return rows
}
