// Code generated from reference/openapi.yaml by tools/wiregen. DO NOT EDIT.

package prepaid

import "github.com/cardprograms/prepaid/ratelimit"

var (
	opToken = operation{
		Operation: Operation{"Token", "POST", "/token"},
		class:     classToken, kind: responseJSON, success: []int{200},
	}
	opReportingStart = operation{
		Operation: Operation{"Reporting.Start", "GET", "/reporting/templates/{templatename}"},
		class:     classNever, kind: responseText, lane: ratelimit.Call, tokenOn400: true, success: []int{200},
	}
	opReportingResult = operation{
		Operation: Operation{"Reporting.Result", "GET", "/reporting/templates/{templatename}/reports/{reportid}"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, bodyAfter204: true, failedOn500: true, success: []int{200, 204},
	}
	opPolicyMerchantCategoryCodes = operation{
		Operation: Operation{"Policy.MerchantCategoryCodes", "GET", "/policy/mccodes"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200, 204},
	}
	opPolicyRestrictions = operation{
		Operation: Operation{"Policy.Restrictions", "GET", "/policy/{id}/restrictions"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200},
	}
	opPolicyGet = operation{
		Operation: Operation{"Policy.Get", "GET", "/policy/{id}/policy"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200},
	}
	opPolicyCategories = operation{
		Operation: Operation{"Policy.Categories", "GET", "/policy/{id}/categories"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200},
	}
	opPolicyChangeCategories = operation{
		Operation: Operation{"Policy.ChangeCategories", "POST", "/policy/{id}/categories"},
		class:     classNever, kind: responseNone, lane: ratelimit.Call, success: []int{200, 204},
	}
	opPolicyMerchants = operation{
		Operation: Operation{"Policy.Merchants", "GET", "/policy/{id}/merchants"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200},
	}
	opPolicyChangeMerchants = operation{
		Operation: Operation{"Policy.ChangeMerchants", "POST", "/policy/{id}/merchants"},
		class:     classNever, kind: responseNone, lane: ratelimit.Call, success: []int{200, 204},
	}
	opPolicyTerminals = operation{
		Operation: Operation{"Policy.Terminals", "GET", "/policy/{id}/terminals"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200},
	}
	opPolicyChangeTerminals = operation{
		Operation: Operation{"Policy.ChangeTerminals", "POST", "/policy/{id}/terminals"},
		class:     classNever, kind: responseNone, lane: ratelimit.Call, success: []int{200, 204},
	}
	opAccountsSearch = operation{
		Operation: Operation{"Accounts.Search", "GET", "/accounts"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200, 204},
	}
	opAccountsCreate = operation{
		Operation: Operation{"Accounts.Create", "POST", "/accounts"},
		class:     classNever, kind: responseJSON, lane: ratelimit.Call, inputStatus: true, success: []int{201},
	}
	opAccountsSearchCompany = operation{
		Operation: Operation{"Accounts.SearchCompany", "GET", "/accounts/company/{companyid}"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200, 204},
	}
	opAccountsGet = operation{
		Operation: Operation{"Accounts.Get", "GET", "/accounts/{id}"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200},
	}
	opAccountsUpdate = operation{
		Operation: Operation{"Accounts.Update", "PUT", "/accounts/{id}"},
		class:     classNever, kind: responseNone, lane: ratelimit.Call, success: []int{200, 204},
	}
	opAccountsTransactions = operation{
		Operation: Operation{"Accounts.Transactions", "GET", "/accounts/{id}/transactions"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200, 204},
	}
	opAccountsSummary = operation{
		Operation: Operation{"Accounts.Summary", "GET", "/accounts/{id}/status"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200},
	}
	opAccountsSetStatus = operation{
		Operation: Operation{"Accounts.SetStatus", "PUT", "/accounts/{id}/status"},
		class:     classRepeated, kind: responseNone, lane: ratelimit.Call, never: []string{"active", "pre_active"}, success: []int{200, 204},
	}
	opAccountsSetPlasticEnabled = operation{
		Operation: Operation{"Accounts.SetPlasticEnabled", "PUT", "/accounts/{id}/plastic"},
		class:     classRepeated, kind: responseNone, lane: ratelimit.Call, never: []string{"true"}, success: []int{200, 204},
	}
	opAccountsWalletTokens = operation{
		Operation: Operation{"Accounts.WalletTokens", "GET", "/accounts/{id}/tokens"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200, 204},
	}
	opAccountsProvisionWallet = operation{
		Operation: Operation{"Accounts.ProvisionWallet", "POST", "/accounts/{id}/wallet/{provider}"},
		class:     classNever, kind: responseJSON, lane: ratelimit.Call, inputStatus: true, success: []int{200},
	}
	opAccountsExchangeKey = operation{
		Operation: Operation{"Accounts.ExchangeKey", "POST", "/accounts/{id}/dip"},
		class:     classNever, kind: responseData, lane: ratelimit.Call, success: []int{200},
	}
	opAccountsDirectEntryOut = operation{
		Operation: Operation{"Accounts.DirectEntryOut", "POST", "/accounts/{id}/directentryout"},
		class:     classKeyed, kind: responseJSON, lane: ratelimit.Money, success: []int{200},
	}
	opAccountsTransfer = operation{
		Operation: Operation{"Accounts.Transfer", "POST", "/accounts/{id}/transfer"},
		class:     classKeyed, kind: responseJSON, modelsFailure: true, lane: ratelimit.Money, success: []int{200},
	}
	opFundingRedeem = operation{
		Operation: Operation{"Funding.Redeem", "POST", "/funding/redemptions"},
		class:     classNever, kind: responseJSON, modelsFailure: true, lane: ratelimit.Money, success: []int{200},
	}
	opFundingReverse = operation{
		Operation: Operation{"Funding.Reverse", "POST", "/funding/reversals"},
		class:     classNever, kind: responseJSON, modelsFailure: true, lane: ratelimit.Money, success: []int{200},
	}
	opFundingRefund = operation{
		Operation: Operation{"Funding.Refund", "POST", "/funding/refunds"},
		class:     classNever, kind: responseJSON, modelsFailure: true, lane: ratelimit.Money, success: []int{200},
	}
	opSimulationTransact = operation{
		Operation: Operation{"Simulation.Transact", "POST", "/simulation/transact"},
		class:     classNever, kind: responseJSON, modelsFailure: true, lane: ratelimit.Call, success: []int{200},
	}
	opSimulationAdvise = operation{
		Operation: Operation{"Simulation.Advise", "POST", "/simulation/advice"},
		class:     classNever, kind: responseJSON, modelsFailure: true, lane: ratelimit.Call, success: []int{200},
	}
	opSimulationReverse = operation{
		Operation: Operation{"Simulation.Reverse", "POST", "/simulation/reverse"},
		class:     classNever, kind: responseJSON, modelsFailure: true, lane: ratelimit.Call, success: []int{200},
	}
	opSimulationClear = operation{
		Operation: Operation{"Simulation.Clear", "POST", "/simulation/clear"},
		class:     classNever, kind: responseJSON, modelsFailure: true, lane: ratelimit.Call, success: []int{200},
	}
	opSimulationReverseClear = operation{
		Operation: Operation{"Simulation.ReverseClear", "POST", "/simulation/reverse_clear"},
		class:     classNever, kind: responseJSON, modelsFailure: true, lane: ratelimit.Call, success: []int{200},
	}
	opPINInitiate = operation{
		Operation: Operation{"PIN.Initiate", "POST", "/pin/initiate"},
		class:     classNever, kind: responseRaw, lane: ratelimit.Call, success: []int{200, 201, 202, 204},
	}
	opPINValidate = operation{
		Operation: Operation{"PIN.Validate", "POST", "/pin/validate"},
		class:     classNever, kind: responseRaw, lane: ratelimit.Call, success: []int{200, 201, 202, 204},
	}
	opPINExecute = operation{
		Operation: Operation{"PIN.Execute", "POST", "/pin/execute"},
		class:     classNever, kind: responseRaw, lane: ratelimit.Call, success: []int{200, 201, 202, 204},
	}
	opHooksList = operation{
		Operation: Operation{"Hooks.List", "GET", "/hooks"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200, 204},
	}
	opHooksCreate = operation{
		Operation: Operation{"Hooks.Create", "POST", "/hooks"},
		class:     classNever, kind: responseJSON, lane: ratelimit.Call, success: []int{201},
	}
	opHooksGet = operation{
		Operation: Operation{"Hooks.Get", "GET", "/hooks/{id}"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200},
	}
	opHooksUpdate = operation{
		Operation: Operation{"Hooks.Update", "PATCH", "/hooks/{id}"},
		class:     classNever, kind: responseNone, lane: ratelimit.Call, success: []int{200, 204},
	}
	opHooksDelete = operation{
		Operation: Operation{"Hooks.Delete", "DELETE", "/hooks/{id}"},
		class:     classRepeated, kind: responseNone, lane: ratelimit.Call, success: []int{204, 200},
	}
	opHooksUndeliverable = operation{
		Operation: Operation{"Hooks.Undeliverable", "GET", "/hooks/{id}/undeliverable"},
		class:     classRead, kind: responseJSON, lane: ratelimit.Call, success: []int{200, 204},
	}
	opHooksDismiss = operation{
		Operation: Operation{"Hooks.Dismiss", "POST", "/hooks/{id}/undeliverable/dismiss"},
		class:     classNever, kind: responseNone, lane: ratelimit.Call, success: []int{204, 200},
	}
)

// allOperations are those of the reference.
func allOperations() []*operation {
	return []*operation{
		&opToken,
		&opReportingStart,
		&opReportingResult,
		&opPolicyMerchantCategoryCodes,
		&opPolicyRestrictions,
		&opPolicyGet,
		&opPolicyCategories,
		&opPolicyChangeCategories,
		&opPolicyMerchants,
		&opPolicyChangeMerchants,
		&opPolicyTerminals,
		&opPolicyChangeTerminals,
		&opAccountsSearch,
		&opAccountsCreate,
		&opAccountsSearchCompany,
		&opAccountsGet,
		&opAccountsUpdate,
		&opAccountsTransactions,
		&opAccountsSummary,
		&opAccountsSetStatus,
		&opAccountsSetPlasticEnabled,
		&opAccountsWalletTokens,
		&opAccountsProvisionWallet,
		&opAccountsExchangeKey,
		&opAccountsDirectEntryOut,
		&opAccountsTransfer,
		&opFundingRedeem,
		&opFundingReverse,
		&opFundingRefund,
		&opSimulationTransact,
		&opSimulationAdvise,
		&opSimulationReverse,
		&opSimulationClear,
		&opSimulationReverseClear,
		&opPINInitiate,
		&opPINValidate,
		&opPINExecute,
		&opHooksList,
		&opHooksCreate,
		&opHooksGet,
		&opHooksUpdate,
		&opHooksDelete,
		&opHooksUndeliverable,
		&opHooksDismiss,
	}
}
