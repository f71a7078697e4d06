// Package prepaidvcr records a partner's own calls once, against the real test environment, and replays them in tests
// from then on, using gopkg.in/dnaeon/go-vcr.v4:
//
//	func TestPayOut(t *testing.T) {
//		recorder := prepaidvcr.Start(t, "testdata/payout", prepaidvcr.Options{})
//		client, err := prepaid.NewClient(recorder.Config(config))
//		…
//	}
//
// PREPAID_VCR=record go test -count=1 -run TestPayOut writes testdata/payout.yaml, which you commit; go test replays it,
// without network, credentials or address. Only a test that ran to its end without failing writes a cassette.
//
// # Scrubbing
//
// Every exchange is scrubbed before go-vcr sees it, with a schema derived from the client's own types: fields with a
// redact tag are replaced, and so is everything that the schema does not name. Kept are amounts, statuses and other
// enumerated values, flags, times that are not personal, currencies, merchant categories, counts, and error codes.
// Everything else is replaced by a pseudonym of the same form (digits stay digits, a date a date, an address an address).
// The same value gets the same pseudonym throughout a cassette: the account that one call returns is the one that the
// next is about. Pseudonyms are numbers in order of appearance, so that a new recording makes a small difference.
//
// Cells of reports are scrubbed too. [Options].ReportColumns and ReportAmounts name the kept ones; the cassette lists them.
//
// Of the headers, media type, page counts and Retry-After are kept, without the vendor's name.
//
// # How requests are matched
//
// By operation, names of parameters and members, and the values that were kept; scrubbed values and times are not
// compared. So a replay may use any IDs, names and credentials. But a value from the cassette must be used where the
// recording used it, and one of the caller's own IDs stands for the recorded one that it first matched and no other:
// swapped accounts, or a second request ID for a repeated payment, get no response. Requests that are alike get the
// recorded responses in their order: polls of a report get 204, 204, 200. Concurrent calls are distinguished by the
// pseudonyms that they have learnt from earlier responses of the cassette. If there are none, they are matched in order
// of arrival, so give such calls different amounts or other kept values, or make them one after the other.
//
// # Values in responses
//
// A value that the caller sends where the recording had a pseudonym takes the place of that pseudonym in the response
// and all later ones: Get returns the account ID that it was called with, and Accounts.Issue finds the company of its
// params. Until a value is sent, responses show the pseudonym. If two different values were sent for one recorded value,
// each is shown in members of the name in which it was sent; where that does not decide, the request fails as one that is
// not in the cassette, and the error names the place. Nothing of a replay is written.
//
// A request that is not in the cassette fails with [*UnrecordedError] inside the call's error: not sent, not processed,
// not retried. One whose response was lost in the recording has an unknown outcome again. Tokens are the exception: the
// client requests them when it needs them, and gets generated ones when the recorded ones are used up.
package prepaidvcr
