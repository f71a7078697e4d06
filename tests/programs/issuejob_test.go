package programs_test

// The code of docs/http-handler.md that issues a card.

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

type cardOrder struct { // a row of your database
	Params prepaid.IssueParams // ClientAccountKey is the order's ID
	State  string
	Card   prepaid.AccountID
}

var errKnown = errors.New("the order is known")

func take(o *cardOrder, insert func(*cardOrder) error) (status int) {
	if err := o.Params.Validate(); err != nil {
		return http.StatusUnprocessableEntity // err lists the fields, without values
	}
	o.State = "new"
	switch err := insert(o); { // "on conflict do nothing": a form that is sent twice must not make a begun order new
	case errors.Is(err, errKnown):
		return http.StatusConflict // if the stored params are the same: its state
	case err != nil:
		return http.StatusServiceUnavailable
	}
	return http.StatusAccepted // the job issues the card; a GET reads the row
}

func issue(ctx context.Context, accounts *prepaid.AccountsService, o *cardOrder, save func(*cardOrder) error) error {
	params := o.Params
	params.Again = o.State == "begun" // an earlier run may have created the card
	o.State = "begun"
	if err := save(o); err != nil {
		return err // nothing was sent
	}
	params.VisibleWithin = 2 * time.Minute
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute) // more than VisibleWithin, or nothing is created
	defer cancel()
	issued, err := accounts.Issue(ctx, params)
	switch outcome := prepaid.OutcomeOf(err); {
	case err == nil:
		o.State, o.Card = "issued", issued.Account.ID
	case outcome == prepaid.OutcomeApplied:
		o.State = "created" // never issue it again
	case outcome == prepaid.OutcomeRejected && !params.Again:
		o.State = "refused"
	case outcome == prepaid.OutcomeNotProcessed && !params.Again:
		o.State = "new"
	}
	return errors.Join(err, save(o))
}

func TestIssueJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		var row cardOrder
		save := func(o *cardOrder) error { row = *o; return nil }
		order := &cardOrder{Params: prepaid.IssueParams{ProgramClientID: "acme", Account: prepaid.CreateAccountParams{
			CompanyID: 42, ClientAccountKey: "order 7",
			Cardholder: &prepaid.Cardholder{
				FirstName: "Ada", LastName: "Lovelace", DateOfBirth: prepaid.Date{Year: 1990, Month: time.May, Day: 1},
			},
		}}}
		insert := func(o *cardOrder) error {
			if row.State != "" {
				return errKnown
			}
			return save(o)
		}
		require.Equal(t, http.StatusUnprocessableEntity, take(order, insert))
		order.Params.Account.Cardholder.PrimaryAddress = prepaid.Address{State: "NSW", Country: "AU"}
		require.Equal(t, http.StatusAccepted, take(order, insert))
		again := *order
		require.Equal(t, http.StatusConflict, take(&again, insert))

		accounts := srv.Client().Accounts
		srv.Inject("POST /accounts", prepaidtest.Respond(403, "forbidden"))
		require.Error(t, issue(t.Context(), accounts, order, save))
		require.Equal(t, "refused", row.State)

		order.State = "new"
		srv.Inject("POST /accounts", prepaidtest.CommitThenDrop())
		srv.Inject("GET /accounts", prepaidtest.Fault{}, prepaidtest.Respond(500, "server_error").Always()) // not seen before the creation
		require.Error(t, issue(t.Context(), accounts, order, save))
		require.Equal(t, "begun", row.State)

		srv.ClearFaults()
		restarted := row
		require.NoError(t, issue(t.Context(), accounts, &restarted, save))
		require.Equal(t, "issued", row.State)
		require.NotEmpty(t, row.Card)
		require.Len(t, srv.AccountIDs(), 1)
	})
}
