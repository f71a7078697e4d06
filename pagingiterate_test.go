package prepaid_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// How an iteration finds its end, with and without pages fetched ahead: nothing lost, nothing twice, and no page
// asked for beyond the last.
func TestIterationEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pages []harness.Step
		ids   []string
		asked int // pages, when none is fetched ahead
		is    error
	}{
		"one page":                  {[]harness.Step{pageOf(1, 2, "2 1 2")}, ids(1, 2), 1, nil},
		"three pages":               {[]harness.Step{pageOf(1, 2, "2 3 5"), pageOf(3, 4, "2 3 5"), pageOf(5, 5, "2 3 5")}, ids(1, 5), 3, nil},
		"full last page":            {[]harness.Step{pageOf(1, 2, "2 2 4"), pageOf(3, 4, "2 2 4")}, ids(1, 4), 2, nil},
		"nothing":                   {[]harness.Step{harness.Respond(204, "", "")}, nil, 1, nil},
		"nothing, told":             {[]harness.Step{harness.Respond(204, "", "", "X-TotalPages: 0")}, nil, 1, nil},
		"empty array":               {[]harness.Step{harness.Respond(200, harness.VendorJSON, "[]")}, nil, 1, nil},
		"untold, short page":        {[]harness.Step{pageOf(1, 2, ""), pageOf(3, 4, ""), pageOf(5, 5, "")}, ids(1, 5), 3, nil},
		"untold, empty page":        {[]harness.Step{pageOf(1, 2, ""), pageOf(3, 4, ""), harness.Respond(200, harness.VendorJSON, "[]")}, ids(1, 4), 3, nil},
		"untold, 204":               {[]harness.Step{pageOf(1, 2, ""), harness.Respond(204, "", "")}, ids(1, 2), 2, nil},
		"untold, longer pages":      {[]harness.Step{pageOf(1, 2, ""), pageOf(3, 5, ""), pageOf(6, 6, "")}, ids(1, 6), 3, nil},
		"garbage headers":           {[]harness.Step{pageOf(1, 2, "x y z"), pageOf(3, 3, "x y z")}, ids(1, 3), 2, nil},
		"one bare account":          {[]harness.Step{harness.Respond(200, harness.VendorJSON, harness.AccountJSON), harness.Respond(204, "", "")}, ids(1, 1), 1, nil},
		"bare accounts for ever":    {[]harness.Step{harness.Respond(200, harness.VendorJSON, harness.AccountJSON), harness.Respond(200, harness.VendorJSON, harness.AccountJSON)}, ids(1, 1), 1, nil},
		"a bare last account":       {[]harness.Step{pageOf(1, 2, "2 2 3"), harness.Respond(200, harness.VendorJSON, strings.Replace(harness.AccountJSON, "acc-1", "acc-3", 1), "X-TotalPages: 2")}, ids(1, 3), 2, nil},
		"untold, the same page":     {[]harness.Step{pageOf(1, 2, ""), pageOf(1, 2, "")}, ids(1, 2), 2, prepaid.ErrPageRepeated},
		"told, the same page":       {[]harness.Step{pageOf(1, 2, "2 5 9"), pageOf(1, 2, "2 5 9")}, ids(1, 2), 2, prepaid.ErrPageRepeated},
		"all seen, the same page":   {[]harness.Step{pageOf(1, 2, "2 5 2"), pageOf(1, 2, "2 5 2")}, ids(1, 2), 2, nil},
		"the list shrinks":          {[]harness.Step{pageOf(1, 2, "2 3 5"), pageOf(3, 3, "2 2 3")}, ids(1, 3), 2, prepaid.ErrListIncomplete},
		"the list shrinks to none":  {[]harness.Step{pageOf(1, 2, "2 3 5"), harness.Respond(204, "", "", "X-TotalPages: 1")}, ids(1, 2), 2, prepaid.ErrListIncomplete},
		"a page is gone":            {[]harness.Step{pageOf(1, 2, "2 3 5"), harness.ServiceError(400, "invalid_request")}, ids(1, 2), 2, prepaid.ErrListIncomplete},
		"the list grows":            {[]harness.Step{pageOf(1, 2, "2 2 4"), pageOf(3, 4, "2 3 5"), pageOf(5, 5, "2 3 5")}, ids(1, 5), 3, nil},
		"the headers go missing":    {[]harness.Step{pageOf(1, 2, "2 3 5"), pageOf(3, 4, ""), pageOf(5, 5, "")}, ids(1, 5), 3, nil},
		"the headers come late":     {[]harness.Step{pageOf(1, 2, ""), pageOf(3, 4, "2 2 4")}, ids(1, 4), 2, nil},
		"a smaller size is applied": {[]harness.Step{pageOf(1, 1, "1 2 2"), pageOf(2, 2, "1 2 2")}, ids(1, 2), 2, nil},
		"an error in the middle":    {[]harness.Step{pageOf(1, 2, "2 4 8"), pageOf(3, 4, "2 4 8"), harness.ServiceError(500, "server_error")}, ids(1, 4), 3, prepaid.ErrServer},
		"an error at the start":     {[]harness.Step{harness.ServiceError(403, "forbidden")}, nil, 1, prepaid.ErrForbidden},
		"nonsense in the middle":    {[]harness.Step{pageOf(1, 2, "2 4 8"), harness.Respond(200, harness.VendorJSON, `[{}]`)}, ids(1, 2), 2, nil},
	} {
		for _, prefetch := range []int{0, 1, 3} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				client, service := pagedClient(t, tc.pages...)
				got, err := collected(searchCompany(t.Context(), client, prepaid.Paging{Size: 2, Prefetch: prefetch}))
				require.Equal(t, tc.ids, got)
				switch {
				case name == "nonsense in the middle":
					_, ok := errors.AsType[*prepaid.DecodeError](err)
					require.True(t, ok)
				case tc.is != nil:
					require.ErrorIs(t, err, tc.is)
					require.Equal(t, "Accounts.SearchCompany", harness.CallError(t, err).Operation)
					require.Equal(t, prepaid.OutcomeNotProcessed == harness.CallError(t, err).Outcome, tc.is != prepaid.ErrForbidden)
				default:
					require.NoError(t, err)
				}
				if prefetch == 0 {
					require.Len(t, service.Requests(), tc.asked)
				}
			})
		}
	}
}

// An iteration starts where it is told to.
func TestIterationFromPage(t *testing.T) {
	t.Parallel()
	for _, prefetch := range []int{0, 4} {
		client, service := pagedClient(t, pageOf(1, 2, "2 3 5"), pageOf(3, 4, "2 3 5"), pageOf(5, 5, "2 3 5"))
		got, err := collected(searchCompany(t.Context(), client, prepaid.Paging{Page: 2, Prefetch: prefetch}))
		require.NoError(t, err)
		require.Equal(t, ids(3, 5), got)
		require.Equal(t, []string{"page_number=2&page_size=100", "page_number=3&page_size=100"}, asked(service))
	}
}

// Leaving the loop asks for nothing more.
func TestIterationBreak(t *testing.T) {
	t.Parallel()
	client, service := pagedClient(t, pageOf(1, 2, "2 3 5"), pageOf(3, 4, "2 3 5"), pageOf(5, 5, "2 3 5"))
	for range searchCompany(t.Context(), client, prepaid.Paging{}) {
		break
	}
	require.Len(t, service.Requests(), 1)
	seen := 0
	for range searchCompany(t.Context(), client, prepaid.Paging{}) {
		if seen++; seen == 3 {
			break
		}
	}
	require.Len(t, service.Requests(), 3)
}

// An iterator may be used again: it starts anew.
func TestIterationAgain(t *testing.T) {
	t.Parallel()
	client, _ := pagedClient(t, pageOf(1, 2, "2 2 3"), pageOf(3, 3, "2 2 3"))
	all := searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 2})
	for range 3 {
		got, err := collected(all)
		require.NoError(t, err)
		require.Equal(t, ids(1, 3), got)
	}
}

// What is wrong with the request is the one thing an iteration gives, and nothing is sent.
func TestIterationOfInvalidRequest(t *testing.T) {
	t.Parallel()
	for _, prefetch := range []int{0, 3} {
		client, service := pagedClient(t)
		var failures []error
		for account, err := range searchCompany(t.Context(), client, prepaid.Paging{Page: -1, Prefetch: prefetch}) {
			require.Nil(t, account)
			failures = append(failures, err)
		}
		require.Len(t, failures, 1)
		_, ok := errors.AsType[*prepaid.ValidationError](failures[0])
		require.True(t, ok)
		require.Empty(t, service.Requests())
	}
}

// A context that ends between pages ends the iteration with its error.
func TestIterationCancelled(t *testing.T) {
	t.Parallel()
	for _, prefetch := range []int{0, 2} {
		client, _ := pagedClient(t, pageOf(1, 2, "2 9 18"), pageOf(3, 4, "2 9 18"), pageOf(5, 6, "2 9 18"), pageOf(7, 8, "2 9 18"))
		ctx, cancel := context.WithCancel(t.Context())
		var got []string
		var failure error
		for account, err := range searchCompany(ctx, client, prepaid.Paging{Prefetch: prefetch}) {
			if failure = err; err == nil {
				got = append(got, string(account.ID))
			}
			cancel()
		}
		cancel()
		require.ErrorIs(t, failure, context.Canceled)
		require.Equal(t, ids(1, len(got)), got)
		require.Less(t, len(got), 8)
	}
}
