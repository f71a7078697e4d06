package prepaid_test

import (
	"context"
	"errors"
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

// Not every program has a policy.
func ExamplePolicyService_Get_none() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	srv.AddCompany(prepaidtest.Company{ID: 8, Loop: prepaidtest.NoPolicy})

	_, err := srv.Client().Policy.Get(context.Background(), 8)
	fmt.Println(errors.Is(err, prepaid.ErrNotFound), err)
	// Output: true prepaid: Policy.Get: rejected: status 404 (policy_not_found): the company has no configured policy
}

// The categories that have a rule. Codes keep their leading zeros.
func ExamplePolicyService_Categories() {
	srv, client, ctx := service()
	defer srv.Close()

	check(client.Policy.ChangeCategories(ctx, 42, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"0742", "7995"}}))
	policy, err := client.Policy.Categories(ctx, 42)
	check(err)
	for _, rule := range policy.Categories {
		fmt.Println(rule.MerchantCategoryCode)
	}
	fmt.Println(policy.Merchants == nil) // not part of this response
	// Output:
	// 0742
	// 7995
	// true
}

// The service gives each merchant rule an internal ID, which is never sent back.
func ExamplePolicyService_Merchants() {
	srv, client, ctx := service()
	defer srv.Close()

	check(client.Policy.ChangeMerchants(ctx, 42, prepaid.ChangeRulesParams[prepaid.MerchantRule]{
		Add: []prepaid.MerchantRule{{AcquirerID: 100001, CardAcceptorID: "CASINO", Description: "Casino of Sydney"}},
	}))
	policy, err := client.Policy.Merchants(ctx, 42)
	check(err)
	for _, rule := range policy.Merchants {
		fmt.Println(rule.AcquirerID, rule.CardAcceptorID, rule.Description, rule.ID != 0)
	}
	// Output: 100001 CASINO Casino of Sydney true
}

// A closed program becomes usable at one merchant, then at none. The reason is stored with each change.
func ExamplePolicyService_ChangeMerchants() {
	srv, client, ctx := service()
	defer srv.Close()
	srv.AddCompany(prepaidtest.Company{ID: 7, Loop: prepaidtest.ClosedLoop})
	id := srv.AddAccount(prepaidtest.SeedAccount{CompanyID: 7, Balance: "100.00"})

	for _, change := range []prepaid.ChangeRulesParams[prepaid.MerchantRule]{
		{Reason: "canteen opens", Add: []prepaid.MerchantRule{{AcquirerID: 100001, CardAcceptorID: "CANTEEN", Description: "Canteen"}}},
		{Reason: "canteen closes", Remove: []prepaid.MerchantRule{{AcquirerID: 100001, CardAcceptorID: "CANTEEN"}}},
	} {
		check(client.Policy.ChangeMerchants(ctx, 7, change))
		meal := purchase(id)
		meal.Amount, meal.MerchantID = prepaid.MustAmount("9.50"), "CANTEEN"
		bought, err := client.Simulation.Transact(ctx, meal)
		check(err)
		fmt.Println(change.Reason+":", bought.Message, srv.Balance(id))
	}
	// Output:
	// canteen opens: Approved 90.50
	// canteen closes: Declined by policy 90.50
}

// The terminals with a rule.
func ExamplePolicyService_Terminals() {
	srv, client, ctx := service()
	defer srv.Close()

	check(client.Policy.ChangeTerminals(ctx, 42, prepaid.ChangeRulesParams[prepaid.TerminalRule]{
		Add: []prepaid.TerminalRule{{AcquirerID: 100001, CardAcceptorID: "QUICKMART", TerminalID: "T9", Description: "bottle shop"}},
	}))
	policy, err := client.Policy.Terminals(ctx, 42)
	check(err)
	for _, rule := range policy.Terminals {
		fmt.Println(rule.CardAcceptorID, rule.TerminalID, rule.Description)
	}
	// Output: QUICKMART T9 bottle shop
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

// The old format of a policy, for programs that still read it. It has no merchant rules: prefer Get.
func ExamplePolicyService_Restrictions() {
	srv, client, ctx := service()
	defer srv.Close()
	check(client.Policy.ChangeCategories(ctx, 42, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"7995"}}))

	rules, err := client.Policy.Restrictions(ctx, 42)
	check(err)
	fmt.Println(rules.Type, rules.CategoryRules)
	// Output: open [{must_block 7995}]
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

// The service may use another page size than requested, and reports it.
func ExamplePolicyService_MerchantCategoryCodesPage() {
	srv := emulator(prepaidtest.Options{PageSizes: prepaidtest.PageSizes{Least: 5, Normal: 50, Most: 500}})
	defer srv.Close()

	page, err := srv.Client().Policy.MerchantCategoryCodesPage(context.Background(), prepaid.Paging{Page: 2, Size: 2})
	check(err)
	fmt.Println("page", page.Number, "size", page.Size, "last", page.Last())
	fmt.Println(page.Items[0].Code, page.Items[0].Description)
	// Output:
	// page 2 size 5 last false
	// 1731 Electrical contractors
}

// In an open loop, adding a category blocks it; in a closed loop, it allows it.
func ExamplePolicyService_ChangeCategories() {
	srv, client, ctx := service()
	defer srv.Close()

	err := client.Policy.ChangeCategories(ctx, 42, prepaid.ChangeRulesParams[prepaid.MCC]{
		Reason: "no gambling", Add: []prepaid.MCC{"7995", "0742"}, Remove: []prepaid.MCC{"0742"},
	})
	check(err)
	policy, err := client.Policy.Categories(ctx, 42)
	check(err)
	fmt.Println(policy.DefaultAction, policy.Categories)
	// Output: allow [{7995}]
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

// If a program's rules allow, a list for rules that block is refused.
func ExamplePolicyService_EnsureTerminals() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	srv.AddCompany(prepaidtest.Company{ID: 7, Loop: prepaidtest.ClosedLoop})

	_, err := srv.Client().Policy.EnsureTerminals(context.Background(), 7, prepaid.EnsureRulesParams[prepaid.TerminalRule]{
		DefaultAction: prepaid.PolicyActionAllow,
		Rules:         []prepaid.TerminalRule{{AcquirerID: 100001, CardAcceptorID: "QUICKMART", TerminalID: "T9"}},
	})
	fmt.Println(err)
	// Output: prepaid: Policy.EnsureTerminals: rejected: invalid input: default_action must be the policy's, or the rules would do the opposite: deny
}
