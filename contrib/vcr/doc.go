// Package prepaidvcr records your program's calls once, against the real test environment, and then replays them in
// tests, using cassettes of gopkg.in/dnaeon/go-vcr.v4:
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
// categories, counts, and error codes. Every other value gets a pseudonym, equal values an equal one: if one call returns an account, the
// next call can use it. Names that the schema does not have must be in [Options].Keep, Scrub or Calls, or no cassette is written: a
// replay never shows zero for a value that was left out. The recording keeps only these headers: the media type without the vendor's
// name, page counts and Retry-After.
//
// # Replay
//
// Requests match by operation, names of parameters and members, and kept values except times. So a replay may use any IDs, names and
// credentials. But if the recording sent a value from an earlier response, the test must send the value of the replayed response, and your
// own ID matches only the recorded ID that it first matched: swapped accounts, or a second request ID for a repeated payment, get no
// response. Equal requests get the recorded responses in order.
//
// If you send a value where the recording had a pseudonym, your last value replaces the pseudonym in the response to this request and in
// all later ones: Get returns the account ID of its call. A member prefers a value of a member of the same name.
//
// A request that is not in the cassette is not sent, and the client does not retry it. The call's error wraps an
// [*UnrecordedError], with the outcome not_processed. If the recording lost a response, the outcome is unknown in the
// replay too. A token request always gets a response: a generated token when the recorded ones are used up.
package prepaidvcr
