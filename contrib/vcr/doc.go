// Package prepaidvcr records a partner's own calls once, against the real test environment, and replays them in tests
// from then on, on gopkg.in/dnaeon/go-vcr.v4:
//
//	func TestPayOut(t *testing.T) {
//		recorder := prepaidvcr.Start(t, "testdata/payout", prepaidvcr.Options{})
//		client, err := prepaid.NewClient(recorder.Config(config))
//		…
//	}
//
// PREPAID_VCR=record go test -count=1 -run TestPayOut writes testdata/payout.yaml, which is there to be committed; go test
// replays it, without network, credentials or address. Only a test that ran to its end without failing writes a cassette.
//
// # What is written
//
// Every exchange is scrubbed before go-vcr sees it, by a schema that is read off the client's own types: what a redact
// tag marks goes, and so does whatever the schema does not name. Kept are amounts, statuses and other listed values,
// flags, times that are not personal, currencies, merchant categories, counts, and the codes of errors. All else is
// replaced by a pseudonym that looks alike (digits stay digits, a date a date, an address an address) and is the same
// for the same value throughout a cassette: the account that one call returns is the one that the next is about.
// Pseudonyms are numbers in the order of appearance, so that recording again makes a small difference.
//
// Of headers the media type, the counts of pages and Retry-After are kept, without the vendor's name.
//
// # How requests are matched
//
// By operation, names of parameters and members, and the values that were kept; what was scrubbed is not compared, nor
// are times. So the ids, names and credentials of a replay may be any, but a value that was learnt from the cassette
// has to go where it went in the recording, and an id of the caller's own stands for the recorded one that it first met
// and for no other: swapped accounts, or a second request id for a repeated payment, get no answer. Requests that are
// alike get the recorded answers in their order: a poll of a report gets 204, 204, 200. Calls made at the same time are
// told apart by the pseudonyms that they have learnt from earlier answers of the cassette; where there are none, their
// order is that of arrival, so give such calls an amount or another kept value of their own, or make them one after the
// other.
//
// A request that is not in the cassette fails with [*UnrecordedError] inside the call's error: not sent, not processed,
// not tried again. One whose answer was lost in the recording is in doubt again. Tokens are the exception: they are
// asked for when the client sees fit, and made up when those recorded are used up.
package prepaidvcr
