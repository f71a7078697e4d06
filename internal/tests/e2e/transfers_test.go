package e2e

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// directEntry has every field, and a new request id.
func directEntry(amount string) prepaid.DirectEntryOutParams {
	return prepaid.DirectEntryOutParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount(amount), SourceReference: "RENT", DestinationReference: "UNIT 4",
		Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "Landlord"},
		BSB:         "633000", InitiatingUserID: "batch",
	}
}

func TestE2ETransfer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind prepaid.TransferType
		code string
		wire string
	}{
		{prepaid.TransferTypeLoad, "2950", "2950"},
		{prepaid.TransferTypeCardToCard, "2951", "0"},
		{7, "2951", "7"},
	} {
		t.Run(c.wire, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			from, to := s.seed("100.00"), s.seed("1.00")
			params := harness.TransferTo(to, "25.50")
			params.Type = c.kind
			result, err := s.client.Accounts.Transfer(t.Context(), from, params)
			require.NoError(t, err)
			out, in := s.last(from), s.last(to)
			require.Equal(t, &prepaid.TransferResult{
				TransactionID: out.ID, CorrelationID: result.CorrelationID, RequestID: params.RequestID,
			}, result)
			require.NotEmpty(t, result.CorrelationID)
			require.Equal(t, []string{c.code, "-25.50", "PAYROLL 2026-11", "74.50"}, []string{out.Type, out.Amount, out.Reference, out.RunningBalance})
			require.Equal(t, []string{c.code, "25.50", "SALARY", "26.50"}, []string{in.Type, in.Amount, in.Reference, in.RunningBalance})
			require.JSONEq(t, `{"request_id":"`+string(params.RequestID)+`","amount":25.50,"source_reference":"PAYROLL 2026-11",
				"destination_reference":"SALARY","destination_account_id":"`+string(to)+`","transaction_type":`+c.wire+`,
				"initiator_username":"batch"}`, s.sent(harness.TransferOperation))
		})
	}
}

func TestE2EDirectEntryOut(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from := s.seed("100.00")
	params := directEntry("25.50")
	result, err := s.client.Accounts.DirectEntryOut(t.Context(), from, params)
	require.NoError(t, err)
	out := s.last(from)
	require.Equal(t, &prepaid.TransferResult{
		TransactionID: out.ID, CorrelationID: result.CorrelationID, RequestID: params.RequestID,
	}, result)
	require.NotEmpty(t, result.CorrelationID)
	require.Equal(t, []string{"2960", "-25.50", "RENT", "74.50"}, []string{out.Type, out.Amount, out.Reference, out.RunningBalance})
	require.JSONEq(t, `{"request_id":"`+string(params.RequestID)+`","amount":25.50,"source_reference":"RENT",
		"destination_reference":"UNIT 4","destination_account_info":{"bsb":"062000","account_number":"12345678","account_name":"Landlord"},
		"bsb":"633000","initiating_user_id":"batch"}`, s.sent(harness.DirectEntryOperation))
}

// A failed transfer is a 200 with an empty transaction id. In other forms, and for a direct entry out, a 200
// without an id leaves the outcome unknown.
func TestE2ETransferFailed(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]prepaidtest.EmptyTransactionID{
		"empty": prepaidtest.EmptyString, "null": prepaidtest.EmptyNull, "absent": prepaidtest.EmptyAbsent, "zero": prepaidtest.EmptyZero,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{FailedTransfer: form, EmptyIDForFailedDirectEntry: true})
			poor, to := s.seed("1.00"), s.seed("0")
			blocked := s.AddAccount(prepaidtest.SeedAccount{Balance: "100.00", Status: "suspected_fraud"})
			closed := s.AddAccount(prepaidtest.SeedAccount{Status: "closed"})
			rich := s.seed("100.00")
			failures := map[string]error{
				"too little":     done(s.client.Accounts.Transfer(t.Context(), poor, harness.TransferTo(to, "1.01"))),
				"source blocked": done(s.client.Accounts.Transfer(t.Context(), blocked, harness.TransferTo(to, "1.00"))),
				"closed":         done(s.client.Accounts.Transfer(t.Context(), rich, harness.TransferTo(closed, "1.00"))),
				"nobody":         done(s.client.Accounts.Transfer(t.Context(), rich, harness.TransferTo("nobody", "1.00"))),
				"direct entry":   done(s.client.Accounts.DirectEntryOut(t.Context(), poor, directEntry("1.01"))),
			}
			for name, err := range failures {
				call := harness.As[*prepaid.CallError](t, err)
				require.NotEmpty(t, call.RequestID, name)
				if name == "direct entry" || form == prepaidtest.EmptyAbsent || form == prepaidtest.EmptyZero {
					require.Equal(t, unknown, call.Outcome, name)
					require.NotErrorIs(t, err, prepaid.ErrTransferFailed, name)
					continue
				}
				require.ErrorIs(t, err, prepaid.ErrTransferFailed, name)
				require.Equal(t, rejected, call.Outcome, name)
				require.NotEmpty(t, call.CorrelationID, name)
			}
			s.holds(poor, "1.00")
			s.holds(blocked, "100.00")
			s.holds(rich, "100.00")
		})
	}
}

// A failed transfer is not cached: the same request id may be sent again once the reason is gone.
func TestE2ETransferFailedIsNotCached(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from, to := s.seed("1.00"), s.seed("0")
	params := harness.TransferTo(to, "25.50")
	_, err := s.client.Accounts.Transfer(t.Context(), from, params)
	require.ErrorIs(t, err, prepaid.ErrTransferFailed)
	s.Adjust(from, "99.00")
	_, err = s.client.Accounts.Transfer(t.Context(), from, params)
	require.NoError(t, err)
	s.holds(from, "74.50")
}

func TestE2ETransferRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	poor := s.seed("1.00")
	_, err := s.client.Accounts.Transfer(t.Context(), "nobody", harness.TransferTo(poor, "1.00"))
	require.Equal(t, "the source account does not exist", refused(t, err, 400, "invalid_request").Description)
	_, err = s.client.Accounts.DirectEntryOut(t.Context(), "nobody", directEntry("1.00"))
	refused(t, err, 400, "invalid_request")
	_, err = s.client.Accounts.DirectEntryOut(t.Context(), poor, directEntry("1.01"))
	require.Equal(t, "invalid fields: amount is more than the balance", refused(t, err, 400, "invalid_request").Description)
	s.holds(poor, "1.00")
}

// The service responds to a known request id with the first result, whatever the caller and whatever else is sent.
func TestE2ERequestIDReplayed(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from, to := s.seed("100.00"), s.seed("0")
	params := harness.TransferTo(to, "25.50")
	first, err := s.client.Accounts.Transfer(t.Context(), from, params)
	require.NoError(t, err)

	again := params
	again.Amount = prepaid.MustAmount("99.00")
	second, err := s.Client().Accounts.Transfer(t.Context(), from, again)
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Equal(t, 1, s.Movements(params.RequestID))
	s.holds(from, "74.50")

	// One client does not send an id for two payments.
	_, err = s.client.Accounts.Transfer(t.Context(), from, again)
	require.ErrorIs(t, err, prepaid.ErrRequestIDReused)
	entry := directEntry("4.50")
	entry.RequestID = params.RequestID
	_, err = s.client.Accounts.DirectEntryOut(t.Context(), from, entry)
	require.ErrorIs(t, err, prepaid.ErrRequestIDReused)
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	s.holds(from, "74.50")

	// The two operations of the emulator do not share their request ids.
	other, err := s.Client().Accounts.DirectEntryOut(t.Context(), from, entry)
	require.NoError(t, err)
	require.NotEqual(t, first.TransactionID, other.TransactionID)
	s.holds(from, "70.00")

	// After 30 days the service has forgotten the id, and pays again.
	s.Advance(30*24*time.Hour + time.Second)
	third, err := s.client.Accounts.Transfer(t.Context(), from, params)
	require.NoError(t, err)
	require.NotEqual(t, first.TransactionID, third.TransactionID)
	s.holds(from, "44.50")
}

// Many calls at once with one request id make one movement.
func TestE2ERequestIDAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from, to := s.seed("100.00"), s.seed("0")
	params := harness.TransferTo(to, "25.50")
	results := make([]*prepaid.TransferResult, 8)
	faults := make([]error, len(results))
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i], faults[i] = s.client.Accounts.Transfer(t.Context(), from, params) })
	}
	group.Wait()
	for i := range results {
		require.NoError(t, faults[i])
		require.Equal(t, results[0], results[i])
	}
	require.Equal(t, 1, s.Movements(params.RequestID))
	s.holds(from, "74.50")
}

// The response is lost and the client sends the same bytes again by itself: one movement, and its result.
func TestE2ETransferReplayedByTheClient(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][]prepaidtest.Fault{
		"response lost":      {prepaidtest.CommitThenDrop()},
		"request lost":       {prepaidtest.DropBeforeCommit()},
		"response truncated": {prepaidtest.Truncate()},
		"gateway":            {prepaidtest.Respond(502, ""), prepaidtest.Respond(503, ""), prepaidtest.Respond(504, "")},
		"lost, then limited": {prepaidtest.CommitThenDrop(), prepaidtest.Respond(429, "")},
		"lost, then expired": {prepaidtest.CommitThenDrop(), prepaidtest.Respond(401, "invalid_token")},
		"a page of a proxy":  {prepaidtest.CommitThenDrop(), prepaidtest.RespondBody(503, "text/html", "<html>later</html>")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			from, to := s.seed("100.00"), s.seed("0")
			params := harness.TransferTo(to, "25.50")
			s.Inject(harness.TransferOperation, faults...)
			result, err := s.client.Accounts.Transfer(t.Context(), from, params)
			require.NoError(t, err)
			require.Equal(t, s.last(from).ID, result.TransactionID)
			require.Len(t, s.statuses(harness.TransferOperation), len(faults)+1)
			require.Equal(t, 1, s.Movements(params.RequestID))
			s.holds(from, "74.50")
			s.holds(to, "25.50")
		})
	}
}

// Without replay by the client the outcome is unknown, whatever follows, until the same params are sent again.
func TestE2ETransferUnknownUntilSentAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		fault     prepaidtest.Fault
		committed int
	}{
		{"response lost", prepaidtest.CommitThenDrop(), 1},
		{"request lost", prepaidtest.DropBeforeCommit(), 0},
		{"server error", prepaidtest.Respond(500, ""), 0},
		{"a page of a proxy", prepaidtest.RespondBody(200, "text/html", "<html>welcome</html>"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			config := s.Config()
			config.Retry.MaxAttempts = 1
			client := harness.NewClient(t, config)
			from, to := s.seed("100.00"), s.seed("0")
			params := harness.TransferTo(to, "25.50")
			s.Inject(harness.TransferOperation, c.fault)

			_, err := client.Accounts.Transfer(t.Context(), from, params)
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
			call := harness.As[*prepaid.CallError](t, err)
			require.Equal(t, []any{"Accounts.Transfer", from, params.RequestID, 1},
				[]any{call.Operation, call.AccountID, call.RequestID, call.Attempts})
			require.Equal(t, call.FirstSent, call.LastSent)
			require.WithinDuration(t, time.Now(), call.FirstSent, time.Minute)
			require.Equal(t, c.committed, s.Movements(params.RequestID))

			result, err := client.Accounts.Transfer(t.Context(), from, params)
			require.NoError(t, err)
			require.Equal(t, s.last(from).ID, result.TransactionID)
			require.Equal(t, 1, s.Movements(params.RequestID))
			s.holds(from, "74.50")
		})
	}
}

// An unknown outcome stays unknown: responses after a lost one do not resolve it, unless one is a refusal
// that proves that no money moved.
func TestE2ETransferUnknownIsSticky(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from, to := s.seed("100.00"), s.seed("0")
	s.Inject(harness.TransferOperation, prepaidtest.CommitThenDrop(), prepaidtest.Respond(400, "duplicate_request"))
	_, err := s.client.Accounts.Transfer(t.Context(), from, harness.TransferTo(to, "25.50"))
	failed(t, err, unknown, 400, "duplicate_request")
	broken := harness.As[*prepaid.TransportError](t, err)
	require.True(t, broken.Sent)
	s.holds(from, "74.50")
}

// After a crash a payroll run restarts with the same derived ids and pays each person once.
func TestE2EDerivedRequestIDResent(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from := s.seed("100.00")
	staff := []prepaid.AccountID{s.seed("0"), s.seed("0"), s.seed("0")}
	payday := prepaid.DateOf(time.Now())
	pay := func(client *prepaid.Client, upTo int) {
		for _, employee := range staff[:upTo] {
			params := harness.TransferTo(employee, "10.00")
			params.RequestID = prepaid.DeriveRequestID(payday, "payroll-2026-11", string(employee))
			_, err := client.Accounts.Transfer(t.Context(), from, params)
			require.NoError(t, err)
		}
	}
	pay(s.client, 2)
	pay(s.Client(), 3)
	for _, employee := range staff {
		s.holds(employee, "10.00")
	}
	s.holds(from, "70.00")
}

// A request id that the service may have forgotten is not sent: this proves nothing about an earlier call.
func TestE2ERequestIDExpired(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from := s.seed("100.00")
	for _, day := range []time.Time{time.Now().AddDate(0, 0, -30), time.Now().AddDate(0, 0, 30)} {
		params := harness.TransferTo("somebody", "1.00")
		params.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(day), "payroll")
		_, err := s.client.Accounts.Transfer(t.Context(), from, params)
		require.ErrorIs(t, err, prepaid.ErrRequestIDExpired)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
	}
	require.Empty(t, s.Requests())
}

// Only ids of this package contain a day. A caller's UUIDv7 of last year is sent like any other id.
func TestE2EForeignRequestIDHasNoAge(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from, to := s.seed("100.00"), s.seed("0.00")
	for _, id := range []prepaid.RequestID{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "0b17f22e-2ee2-8e00-8ec9-32d5f69181c0", "invoice-7"} {
		params := harness.TransferTo(to, "1.00")
		params.RequestID = id
		result, err := s.client.Accounts.Transfer(t.Context(), from, params)
		require.NoError(t, err, id)
		require.Equal(t, id, result.RequestID)
	}
	s.holds(to, "3.00")
}

func TestE2ETransferValidation(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	_, err := s.client.Accounts.Transfer(t.Context(), "..", prepaid.TransferParams{})
	invalid(t, err, "id", "request_id", "amount", "source_reference", "destination_reference", "destination_account_id")
	_, err = s.client.Accounts.DirectEntryOut(t.Context(), "", prepaid.DirectEntryOutParams{})
	invalid(t, err, "id", "request_id", "amount", "source_reference", "destination_reference", "destination_account_info.bsb",
		"destination_account_info.account_number", "destination_account_info.account_name", "bsb")
	require.Empty(t, s.Requests())
}
