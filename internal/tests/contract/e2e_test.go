package contract

import (
	"cmp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// stage is an emulator and a client of it, for one test.
type stage struct {
	*prepaidtest.Server
	t      *testing.T
	client *prepaid.Client
}

// onStage runs a test in a bubble with an emulator in memory, whose reports and clearings take no time, and a client. All have a clock on
// which a wait takes no time.
func onStage(t *testing.T, options prepaidtest.Options, test func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		options.InMemory = true
		options.ReportDelay, options.SimulationDelay = cmp.Or(options.ReportDelay, -1), cmp.Or(options.SimulationDelay, -1)
		server := prepaidtest.NewServer(t, options)
		test(t, &stage{server, t, harness.NewClient(t, server.Config())})
	})
}

// seed adds an active account with a balance.
func (s *stage) seed(balance string) prepaid.AccountID {
	s.t.Helper()
	return s.AddAccount(prepaidtest.SeedAccount{Balance: balance})
}

// holds checks the balance of an account in the emulator.
func (s *stage) holds(id prepaid.AccountID, balance string) {
	s.t.Helper()
	require.Equal(s.t, balance, s.Balance(id))
}

// last is the newest item of an account's history in the emulator.
func (s *stage) last(id prepaid.AccountID) prepaidtest.Transaction {
	s.t.Helper()
	history := s.Transactions(id)
	require.NotEmpty(s.t, history)
	return history[len(history)-1]
}

// statuses returns the emulator's statuses for an operation, oldest first.
func (s *stage) statuses(operation string) []int {
	statuses := []int{}
	for _, r := range s.Requests() {
		if r.Method+" "+r.Template == operation {
			statuses = append(statuses, r.Status)
		}
	}
	return statuses
}

// sent is the body of the newest request of an operation.
func (s *stage) sent(operation string) string {
	s.t.Helper()
	requests := s.Requests()
	for i := len(requests) - 1; i >= 0; i-- {
		if requests[i].Method+" "+requests[i].Template == operation {
			return requests[i].Body
		}
	}
	require.Fail(s.t, "never sent", operation)
	return ""
}

// invalid checks that nothing was sent, and which fields were at fault.
func invalid(t *testing.T, err error, fields ...string) {
	t.Helper()
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	faults := harness.As[*prepaid.ValidationError](t, err)
	found := make([]string, len(faults.Faults))
	for i, fault := range faults.Faults {
		found[i] = fault.Field
	}
	require.Equal(t, fields, found)
}

// cardholder has every field of a registration.
func cardholder() *prepaid.Cardholder {
	return &prepaid.Cardholder{
		Title: "Dr", FirstName: "Grace", MiddleName: "Brewster", LastName: "Hopper", Sex: prepaid.SexFemale,
		PrimaryAddress: prepaid.Address{
			Line1: "1 Harbour Street", Line2: "Level 2", Line3: "Room 3", City: "Sydney", State: "NSW", Country: "AU", Postcode: "2000",
		},
		AlternateAddress: &prepaid.AlternateAddress{
			Line1: "2 Hill Road", Line2: "Unit 9", City: "Perth", State: "WA", Country: "AU", Postcode: "6000",
		},
		MobileNumber: "+61400000001", PhoneNumber: "+61200000001", EmailAddress: "grace@example.com",
		DateOfBirth: prepaid.Date{Year: 1986, Month: time.December, Day: 9}, DriverLicenceNumber: "DL12345",
		Passport: &prepaid.Passport{
			Number: "N1234567", Expiry: prepaid.Date{Year: 2099, Month: time.January, Day: 31}, IssuingCountry: "AUS",
		},
	}
}
