// Package conformance has black-box checks of a service against the reference. They use plain HTTP, and share no
// type with the client or the emulator. They are the same for any base URL: the emulator in CI, or the real test
// environment, for which you need credentials.
//
// With the zero Allow the suite sends only reads, and requests that must be refused. Permit effects in Allow. If
// a case is not permitted or lacks a setting, it is skipped with the reason. A violation names section, field and
// rule, never a received value.
//
// The simulator's cases together wait for eleven times SimulatorWait: set -timeout=30m.
//
// The package's own tests run the suite against a real environment when these variables are set:
//
//	PREPAID_CONFORMANCE_BASE_URL         base address with its prefix /3.0/; without it nothing is sent
//	PREPAID_CONFORMANCE_CLIENT_ID        OAuth client
//	PREPAID_CONFORMANCE_CLIENT_SECRET    secret of the OAuth client
//	PREPAID_CONFORMANCE_VENDOR           word of the media type application/vnd.<word>+json
//	PREPAID_CONFORMANCE_COMPANY_ID       number of a company with a policy
//	PREPAID_CONFORMANCE_ACCOUNT_ID       EAID of an active account of the company, with money
//	PREPAID_CONFORMANCE_SECOND_ACCOUNT   EAID of another such account
//	PREPAID_CONFORMANCE_PROGRAM_CLIENT   client_id in searches for the account
//	PREPAID_CONFORMANCE_ACCOUNT_KEY      client_account_key of the account
//	PREPAID_CONFORMANCE_REPORT_TEMPLATE  name of a report template
//	PREPAID_CONFORMANCE_WALLET_PROVIDER  wallet that takes no certificates
//	PREPAID_CONFORMANCE_HOOK_RECEIVER    HTTPS address for a disabled hook; no message is sent to it
//	PREPAID_CONFORMANCE_APPLICATION_ID   UUID of an application of the key exchange
//	PREPAID_CONFORMANCE_KEY_ID           UUID of a key of the application
//	PREPAID_CONFORMANCE_PAYOUT_BSB       BSB of the bank account for a direct entry out, six digits
//	PREPAID_CONFORMANCE_PAYOUT_NUMBER    number of the bank account, digits only
//	PREPAID_CONFORMANCE_PAYOUT_NAME      name of the bank account
//	PREPAID_CONFORMANCE_SIMULATOR_WAIT   pause between simulated actions, such as 60s (the default)
//	PREPAID_CONFORMANCE_REPORT_WAIT      pause between polls of a report, such as 2s (the default)
//	PREPAID_CONFORMANCE_ALLOW            names of fields of Allow, separated by commas
package conformance
