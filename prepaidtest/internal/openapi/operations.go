package openapi

import "github.com/cardprograms/prepaid/prepaidtest/internal/wire"

// described is OpenAPI metadata of one operation. The routes do not have this metadata.
type described struct {
	name, id, section string // name is the route's
	summary           string
	about             string
	own               string // emulator's choice for an open point
	success           []reply
	refusals          []refusal
	deprecated        bool
}

// reply is a successful response of an operation.
type reply struct {
	status int
	about  string
	schema *wire.Schema // nil for no body
	octets bool         // a bare string
	paged  bool
	own    string
}

// refusal is a status with its error codes. The field why is set if the operation's row in the reference does not list the status.
type refusal struct {
	status int
	codes  list
	why    string
	about  string // instead of the usual description
	also   list   // codes that the row does not name
}

func (r refusal) described(about string) refusal { r.about = about; return r }

func ok(schema string) []reply {
	return []reply{{status: 200, about: "The result.", schema: ref(schema)}}
}
func done() []reply { return []reply{{status: 200, about: "Done. No body."}} }
func octets(about string) []reply {
	return []reply{{status: 200, about: about, schema: text(), octets: true}}
}

// pages are the responses of a list in pages.
func pages(schema string) []reply {
	return []reply{
		{status: 200, about: "One page.", schema: array(ref(schema)), paged: true},
		{status: 204, about: "There are none.", paged: true, own: "Whether it has the paging headers is not shown."},
	}
}

func refuse(status int, codes ...string) refusal { return refusal{status: status, codes: codes} }

// unlisted is a refusal with a status that the operation's row in the reference does not list.
func unlisted(status int, why string, codes ...string) refusal {
	return refusal{status: status, codes: codes, why: why}
}

func noAccount() refusal { return refuse(404, "account_not_found") }
func noPolicy() refusal {
	return unlisted(404, "Section 7 has 404 for a company without a policy; the row does not list it.", "policy_not_found")
}

// hookRefusals are the codes of a webhook's members.
func hookRefusals(also ...string) refusal {
	return refusal{status: 400, also: also, codes: list{
		"invalid_request", "invalid_uri", "invalid_scope", "invalid_filter_spec", "invalid_enabled", "invalid_reliability_mode",
		"invalid_hmac_key_id", "invalid_hmac_key_secret", "no_response",
	}, about: "A member is not valid, or an enabled webhook did not respond to the ping."}
}

// operations describes all operations, in the order of section 4.
func operations(with Options) []described {
	start := refuse(400, "invalid_request").described(wrongTemplate)
	if with.BadOnReport == 400 {
		start.codes = append(start.codes, "unauthorized")
	}
	const oneFailed = "The reference has no status for a payment that cannot be made; it is 400 here."
	return []described{
		{
			name: "POST /token", id: "issueToken", section: "4.1", summary: "Issue an access token",
			about:   "Tokens are valid until they expire, and several may be used at once.",
			success: ok("Token"),
			refusals: []refusal{
				refuse(400, "invalid_request", "unsupported_grant_type", "invalid_client").
					described("The request is not valid, or the credentials are missing or incomplete."),
				refuse(401, "invalid_client").described("The credentials are incorrect."),
			},
		},
		{
			name: "GET /reporting/templates/{templatename}", id: "startReport", section: "4.2", summary: "Start a report",
			about:    "No new run of a template can start before the previous one has finished. A report is kept for 4 hours from the request.",
			success:  octets("The ID of the report."),
			refusals: []refusal{start, refuse(409, "duplicate_request")},
		},
		{
			name: "GET /reporting/templates/{templatename}/reports/{reportid}", id: "getReport", section: "4.2", summary: "Get a report",
			success: []reply{
				{status: 200, about: "The report.", schema: ref("Report")},
				{
					status: 204, about: "The report is still processing. The body has the shape of an error, although a 204 has none in HTTP: many " +
						"libraries cannot read it, and some take it for the next response.", schema: ref("Error"),
				},
			},
			about:    "After a 500, request the report again.",
			refusals: []refusal{refuse(204, "report_processing"), refuse(400, "invalid_request").described("There is no such report.")},
		},
		{
			name: "GET /policy/mccodes", id: "listMerchantCategories", section: "4.3", summary: "List merchant category codes",
			success: pages("MerchantCategory"),
		},
		{
			name: "GET /policy/{id}/restrictions", id: "getRestrictions", section: "4.3", summary: "Get the restriction ruleset",
			about: "Replaced by GET /policy/{id}/policy.", deprecated: true,
			success: ok("Restrictions"), refusals: []refusal{noPolicy()},
		},
		{
			name: "GET /policy/{id}/policy", id: "getPolicy", section: "4.3", summary: "Get the whole policy",
			success: ok("Policy"), refusals: []refusal{noPolicy()},
		},
		{
			name: "GET /policy/{id}/categories", id: "getPolicyCategories", section: "4.3", summary: "Get the categories of the policy",
			success: ok("PolicyCategories"), refusals: []refusal{noPolicy()},
		},
		{
			name: "GET /policy/{id}/merchants", id: "getPolicyMerchants", section: "4.3", summary: "Get the merchants of the policy",
			success: ok("PolicyMerchants"), refusals: []refusal{noPolicy()},
		},
		{
			name: "GET /policy/{id}/terminals", id: "getPolicyTerminals", section: "4.3", summary: "Get the terminals of the policy",
			success: ok("PolicyTerminals"), refusals: []refusal{noPolicy()},
		},
		policyChange("POST /policy/{id}/categories", "changePolicyCategories", "categories"),
		policyChange("POST /policy/{id}/merchants", "changePolicyMerchants", "merchants"),
		policyChange("POST /policy/{id}/terminals", "changePolicyTerminals", "terminals"),
		{
			name: "GET /accounts", id: "searchAccounts", section: "4.4", summary: "Search for accounts by key",
			success: pages("Account"),
		},
		{
			name: "POST /accounts", id: "createAccount", section: "4.4", summary: "Create an account",
			about:   "The response has no account_id: search for the client_account_key.",
			success: []reply{{status: 201, about: "Created.", schema: ref("CreatedAccount")}},
			refusals: []refusal{refuse(404, "account_not_found", "invalid_request").
				described("corresponding_account_id or account_id_to_replace is no account, or the latter is not lost_or_stolen.")},
		},
		{
			name: "GET /accounts/company/{companyid}", id: "searchCompanyAccounts", section: "4.4", summary: "Search the accounts of a company",
			own: "The reference shows no paging headers and no errors for this operation, nor that the response is an array: a setting sends one " +
				"object. An unknown company has no accounts. Filters apply together; names are compared without case, everything else exactly.",
			success: companyPages(with),
		},
		{
			name: "GET /accounts/{id}", id: "getAccount", section: "4.4", summary: "Get an account",
			success: ok("Account"), refusals: []refusal{noAccount()},
		},
		{
			name: "PUT /accounts/{id}", id: "updateAccount", section: "4.4", summary: "Update an account",
			about:   "The registration is replaced whole.",
			own:     "Other members that are left out stay, or are cleared by a setting.",
			success: done(), refusals: []refusal{noAccount()},
		},
		{
			name: "GET /accounts/{id}/transactions", id: "listTransactions", section: "4.4", summary: "List the transactions of an account",
			own:     "The reference states no order: oldest first, or newest first by a setting.",
			success: pages("Transaction"), refusals: []refusal{noAccount()},
		},
		{
			name: "GET /accounts/{id}/status", id: "getAccountStatus", section: "4.4", summary: "Get the reduced account",
			success: ok("ReducedAccount"), refusals: []refusal{noAccount()},
		},
		{
			name: "PUT /accounts/{id}/status", id: "setAccountStatus", section: "4.4", summary: "Set the status of an account",
			own:     "The reference does not say which moves are allowed: all are.",
			success: done(), refusals: []refusal{noAccount()},
		},
		{
			name: "PUT /accounts/{id}/plastic", id: "setPlasticEnabled", section: "4.4", summary: "Enable or disable the plastic",
			success: done(), refusals: []refusal{noAccount()},
		},
		{
			name: "GET /accounts/{id}/tokens", id: "listWalletTokens", section: "4.4", summary: "List the wallet tokens of an account",
			success: []reply{
				{status: 200, about: "All of them.", schema: array(ref("WalletToken"))},
				{status: 204, about: "There are none.", own: "Section 1 has 204 for empty sets; the row lists 200 only."},
			}, refusals: []refusal{noAccount()},
		},
		{
			name: "POST /accounts/{id}/wallet/{provider}", id: "provisionWallet", section: "4.4", summary: "Provision a mobile wallet",
			success: ok("WalletProvisioning"), refusals: []refusal{refuse(404, "unsupported_provider", "account_not_found", "invalid_request").
					described("Unsupported provider, invalid input, or no such account.")},
		},
		{
			name: "POST /accounts/{id}/dip", id: "exchangeKey", section: "4.4", summary: "Exchange key data, encrypted",
			own: "The format of the data is not shown: Base64 of a 12-byte nonce and the AES-256-GCM ciphertext, under the ephemeral key, of a " +
				"JSON object with account_id and card_number.",
			success:  octets("The encrypted exchange data."),
			refusals: []refusal{refuse(400, "bad_application_id", "bad_key_id", "bad_ephemeral_key", "bad_account", "invalid_request")},
		},
		{
			name: "POST /accounts/{id}/directentryout", id: "directEntryOut", section: "4.4", summary: "Pay to a bank account",
			about: repeats, own: oneFailed,
			success: ok("DirectEntryOut"), refusals: []refusal{refuse(400, "invalid_request")},
		},
		{
			name: "POST /accounts/{id}/transfer", id: "transfer", section: "4.4", summary: "Transfer to another account",
			about: repeats, own: "A transfer that fails is 200 with an empty transaction_id and not kept. 400 is for a source that does not exist.",
			success: ok("Transfer"), refusals: []refusal{refuse(400, "invalid_request")},
		},
		funding("POST /funding/redemptions", "redeemFunding", "Redeem funding", "Approved if the account is active and holds the amount."),
		funding("POST /funding/reversals", "reverseFunding", "Reverse a redemption",
			"Approved once, for a redemption of the same account, originating_transaction and correlation_id: credits what was not refunded."),
		funding("POST /funding/refunds", "refundFunding", "Refund", "Approved if the account can take money and, with parent_transaction_id, that "+
			"redemption is of the same account and correlation_id, was not reversed, and is not exceeded by its refunds."),
		simulation("transact", "simulateTransact", "SimulatedTransaction", "Creates a purchase authorisation (type 1118), an ATM cash authorisation "+
			"(1141) or a point-of-sale credit (1116). A Withdrawal needs an ATM merchant category such as 6011."),
		simulation("advice", "simulateAdvice", "SimulatedChange", "Adjusts an earlier purchase. If a matching authorisation exists, it creates a "+
			"purchase authorisation reversal (1120) and a purchase advice (1118), otherwise only the advice."),
		simulation("reverse", "simulateReverse", "SimulatedChange", "Creates a purchase authorisation reversal (1120) if a matching purchase "+
			"authorisation exists on the account."),
		simulation("clear", "simulateClear", "SimulatedClearing", "Asynchronous. If a matching authorisation exists, it creates a clearing credit back "+
			"(1117) and a clearing (1115), otherwise only a forced-post clearing (1115)."),
		simulation("reverse_clear", "simulateReverseClear", "SimulatedClearing", "Asynchronous. Creates a clearing reversal (1125)."),
		{
			name: "POST /pin/initiate", id: "initiatePIN", section: "4.7", summary: "Begin a PIN change",
			own:     "The values of communication_method are not shown: any is taken. The registration must have a mobile number and an e-mail address. " + unmarked,
			success: ok("PINOperation"), refusals: []refusal{unlisted(404, unshown, "account_not_found")},
		},
		sealedPIN("POST /pin/validate", "validatePIN", "Check the one-time password"),
		sealedPIN("POST /pin/execute", "executePIN", "Set the PIN"),
		{
			name: "GET /hooks", id: "listHooks", section: "4.8", summary: "List webhooks",
			success: pages("Hook"),
		},
		{
			name: "GET /hooks/{id}", id: "getHook", section: "4.8", summary: "Get a webhook",
			success: ok("Hook"), refusals: []refusal{unlisted(400, unknownHook, "invalid_hook_id")},
		},
		{
			name: "POST /hooks", id: "createHook", section: "4.8", summary: "Register a webhook",
			about:   "An enabled webhook gets a ping first, and must respond to it with success.",
			own:     "All members are required, since none is marked as optional.",
			success: []reply{{status: 201, about: "Registered.", schema: ref("CreatedHook")}},
			refusals: []refusal{
				hookRefusals(),
				refuse(401, "unauthorized").described("The access token is missing, invalid or expired, or the caller cannot access a company of the scope."),
			},
		},
		{
			name: "PATCH /hooks/{id}", id: "updateHook", section: "4.8", summary: "Change a webhook",
			about:   "Members that are left out stay. A webhook that becomes enabled gets a ping first.",
			own:     unknownHook + " It is 400 invalid_hook_id here, after the faults of the body.",
			success: done(), refusals: []refusal{hookRefusals("invalid_hook_id")},
		},
		{
			name: "DELETE /hooks/{id}", id: "deleteHook", section: "4.8", summary: "Delete a webhook",
			own: "One that does not exist is deleted already: 204.", success: []reply{{status: 204, about: "Deleted."}},
		},
		{
			name: "GET /hooks/{id}/undeliverable", id: "listUndeliverable", section: "4.8", summary: "List undeliverable messages",
			about:   "Complete messages, if reliability_mode is store_undeliverable.",
			success: pages("Message"), refusals: []refusal{refuse(400, "invalid_hook_id")},
		},
		{
			name: "POST /hooks/{id}/undeliverable/dismiss", id: "dismissUndeliverable", section: "4.8", summary: "Dismiss undeliverable messages",
			about: "Alerts stop when all are dismissed.", own: "All of the messages, or none if one is unknown.",
			success: []reply{{status: 204, about: "Dismissed."}}, refusals: []refusal{refuse(400, "invalid_request", "invalid_hook_id", "invalid_message_id")},
		},
	}
}

const (
	repeats = "A request with a request_id that succeeded is kept for 30 days: a later one with the same request_id gets the same response. " +
		"What a second request does while the first still runs is not shown; assume that it pays again."
	wrongTemplate = "The name of the template is wrong, or include_column_headers is not valid."
	unshown       = "Statuses of the PIN operations are not shown."
	unknownHook   = "The row lists no status for an unknown webhook."
)

// companyPages are the responses of the company search.
func companyPages(with Options) []reply {
	found := pages("Account")
	if with.OneAccount {
		found[0].about, found[0].schema = "The first one found.", ref("Account")
	}
	for i := range found {
		found[i].paged = !with.NoPaging
	}
	return found
}

func policyChange(name, id, what string) described {
	return described{
		name: name, id: id, section: "4.3", summary: "Change the " + what + " of the policy",
		about: "For an open loop what is added is blocked, for a closed loop allowed. Removal deletes only the rule.",
		own:   "Adding what is listed, and removing what is not, have no effect.", success: done(),
		refusals: []refusal{refuse(400, "invalid_request"), refuse(403, "forbidden"), refuse(404, "policy_not_found")},
	}
}

func funding(name, id, summary, approved string) described {
	return described{
		name: name, id: id, section: "4.5", summary: summary, success: ok("FundingOutcome"),
		about: "A declined request is 200 with outcome declined.", own: approved,
	}
}

func simulation(operation, id, schema, about string) described {
	matches := " A matching authorisation has the request's authorization_id, account_id, transaction_type, acquirer_id, merchant_id, " +
		"terminal_id and mcc; a setting ignores the last four."
	if operation == "transact" {
		matches = ""
	}
	return described{
		name: "POST /simulation/" + operation, id: id, section: "4.6", summary: "Simulate: " + operation, success: ok(schema),
		about:    about + " In the test environment only. The account must be active and its plastic enabled.",
		refusals: []refusal{unlisted(404, "In the production environment.", "not_found")},
		own:      unmarked + " It shows no status codes." + matches,
	}
}

func sealedPIN(name, id, summary string) described {
	return described{
		name: name, id: id, section: "4.7", summary: summary, success: ok("PINOperation"), own: unmarked,
		about: "The payload is the JSON of PINSecret, encrypted with AES-128 in CBC mode with PKCS#7 padding under an ephemeral key, which is " +
			"encrypted with the operator's RSA public key using OAEP. All binary values are hex.",
		refusals: []refusal{unlisted(400, unshown, "invalid_request", "invalid_envelope", "invalid_operation", "invalid_device", "invalid_otp")},
	}
}
