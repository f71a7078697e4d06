package prepaid_test

import (
	"context"
	"fmt"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The complete policy of a program. The default action determines whether rules allow or block.
func ExamplePolicyService_Get() {
	srv, client, ctx := service()
	defer srv.Close()
	srv.AddCompany(prepaidtest.Company{ID: 7, Loop: prepaidtest.ClosedLoop})

	check(client.Policy.ChangeCategories(ctx, 7, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"5411"}}))
	policy, err := client.Policy.Get(ctx, 7)
	check(err)
	fmt.Println(policy.DefaultAction, "but for the rules:")
	fmt.Println(len(policy.Categories), "category,", len(policy.Merchants), "merchants,", len(policy.Terminals), "terminals")
	// Output:
	// deny but for the rules:
	// 1 category, 0 merchants, 0 terminals
}

// One terminal of a merchant is replaced by another in a single change. Faults name the field and never the value.
func ExamplePolicyService_ChangeTerminals() {
	srv, client, ctx := service()
	defer srv.Close()

	t1 := prepaid.TerminalRule{AcquirerID: 100001, CardAcceptorID: "QUICKMART", TerminalID: "T1"}
	t2 := prepaid.TerminalRule{AcquirerID: 100001, CardAcceptorID: "QUICKMART"}
	gone := prepaid.TerminalRule{AcquirerID: 100001, CardAcceptorID: "QUICKMART", TerminalID: "T1"}
	fmt.Println(client.Policy.ChangeTerminals(ctx, 42, prepaid.ChangeRulesParams[prepaid.TerminalRule]{Add: []prepaid.TerminalRule{t1}}))
	swap := prepaid.ChangeRulesParams[prepaid.TerminalRule]{Add: []prepaid.TerminalRule{t2}, Remove: []prepaid.TerminalRule{gone}}
	fmt.Println(client.Policy.ChangeTerminals(ctx, 42, swap))
	swap.Add[0].TerminalID = "T2"
	fmt.Println(client.Policy.ChangeTerminals(ctx, 42, swap))

	policy, err := client.Policy.Terminals(ctx, 42)
	check(err)
	fmt.Println(len(policy.Terminals), policy.Terminals[0].TerminalID)
	// Output:
	// <nil>
	// prepaid: Policy.ChangeTerminals: rejected: invalid input: add[0].terminal_id is required
	// <nil>
	// 1 T2
}

// All codes that the service knows. It sends them as numbers; here they have four digits.
func ExamplePolicyService_MerchantCategoryCodes() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()

	for code, err := range srv.Client().Policy.MerchantCategoryCodes(context.Background(), prepaid.Paging{}) {
		check(err)
		if code.Code < "1000" || code.Code == "5411" {
			fmt.Println(code.Code, code.Description)
		}
	}
	// Output:
	// 0742 Veterinary services
	// 0763 Agricultural co-operatives
	// 0780 Landscaping and horticultural services
	// 5411 Grocery stores and supermarkets
}

// The merchants that must be blocked, at every start of a program: the second run finds nothing to send. The description of an
// existing rule stays, since a rule can only be replaced by removing it first.
func ExamplePolicyService_EnsureMerchants() {
	srv, client, ctx := service()
	defer srv.Close()

	want := prepaid.EnsureRulesParams[prepaid.MerchantRule]{
		DefaultAction: prepaid.PolicyActionAllow, // rules block
		Rules: []prepaid.MerchantRule{
			{AcquirerID: 100001, CardAcceptorID: "CASINO", Description: "Casino of Sydney"},
			{AcquirerID: 100002, CardAcceptorID: "RACES", Description: "Race course"},
		},
	}
	srv.Inject("POST /policy/{id}/merchants", prepaidtest.CommitThenDrop()) // read back, not sent again
	for range 2 {
		result, err := client.Policy.EnsureMerchants(ctx, 42, want)
		check(err)
		fmt.Println(len(result.Added), "added,", len(result.Unchanged), "as wanted")
	}
	// Output:
	// 2 added, 0 as wanted
	// 0 added, 2 as wanted
}

// A dry run. With RemoveOthers the list is the whole policy: other categories have no rule afterwards.
func ExamplePolicyService_EnsureCategories_dryRun() {
	srv, client, ctx := service()
	defer srv.Close()
	check(client.Policy.ChangeCategories(ctx, 42, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"5933", "7995"}}))

	plan, err := client.Policy.EnsureCategories(ctx, 42, prepaid.EnsureRulesParams[prepaid.MCC]{
		DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MCC{"7995", "5993"}, RemoveOthers: true, DryRun: true,
	})
	check(err)
	fmt.Println("add", plan.Added, "remove", plan.Removed, "keep", plan.Unchanged)
	// Output: add [5993] remove [5933] keep [7995]
}
