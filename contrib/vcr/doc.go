// Package prepaidvcr records your program's calls once, against the real test environment, and then replays them in
// tests, using gopkg.in/dnaeon/go-vcr.v4:
//
//	func TestPayOut(t *testing.T) {
//		recorder := prepaidvcr.Start(t, "testdata/payout", prepaidvcr.Options{})
//		client, err := prepaid.NewClient(recorder.Config(config))
//		…
//	}
//
// PREPAID_VCR=record go test -count=1 -run TestPayOut writes testdata/payout.yaml, which you commit. go test then replays
// this cassette, without network, credentials or address. Only a test that ran to its end without failing writes a cassette.
//
// # Scrubbing
//
// Every exchange is scrubbed before go-vcr sees it, with a schema derived from the reference: the recording
// keeps amounts, statuses and other enumerated values, flags, times that are not personal, currencies, merchant
// categories, counts, and error codes. A pseudonym of the same form (digits stay digits, a date stays a date, an
// address stays an address) replaces every other value. Names that the schema does not have must be in [Options].Keep,
// Scrub or Calls, or no cassette is written: a replay never shows zero for a value that was left out. Equal values get equal pseudonyms throughout a cassette: if one call returns an account, the next call
// can use the same account. Pseudonyms are numbered in order of appearance, so that a new recording makes a small diff.
//
// Cells of reports are scrubbed too, except those in [Options].ReportColumns and ReportAmounts; the cassette lists these.
//
// The recording keeps only these headers: the media type without the vendor's name, page counts and Retry-After.
//
// # How requests are matched
//
// Requests match by operation, names of parameters and members, and kept values; scrubbed values and times are not
// compared. So a replay may use any IDs, names and credentials. But if the recording sent a value from an earlier
// response, the test must send the value of the replayed response. Your own ID matches only the recorded ID that it
// first matched: swapped accounts, or a second request ID for a repeated payment, get no response. Equal requests get
// the recorded responses in order: polls of a report get 204, 204, 200. Pseudonyms from earlier responses of the
// cassette distinguish concurrent calls. Calls that have no such pseudonym match in order of arrival: give them
// different amounts or other kept values, or make them one after the other.
//
// # Values in responses
//
// If you send a value where the recording had a pseudonym, your value replaces the pseudonym in the response to
// this request and in all later responses: Get returns the account ID of its call, and Accounts.Issue finds the
// company of its params. Until then, responses show the pseudonym. If you sent two values for one recorded value,
// each member shows the value that you sent in a member of the same name. If the name does not decide, the request
// fails as if it were not in the cassette, and the error names the place. A replay writes nothing.
//
// A request that is not in the cassette is not sent, and the client does not retry it. The call's error wraps an
// [*UnrecordedError], with the outcome not processed. If the recording lost a response, the outcome is unknown in the
// replay too. A token request always gets a response: a generated token when the recorded ones are used up.
package prepaidvcr
