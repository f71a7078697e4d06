package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// pageOf is a page of accounts numbered from first to last, with the headers given as "size pages items"; a dash
// leaves one out.
func pageOf(first, last int, headers string) harness.Step {
	var rows []string
	for number := first; number <= last; number++ {
		rows = append(rows, fmt.Sprintf(`{"account_id":"acc-%d","company_id":7,"balance":1,"status":"active"}`, number))
	}
	return harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]", pagingHeaders(headers)...)
}

func pagingHeaders(headers string) (lines []string) {
	for i, value := range strings.Fields(headers) {
		if value != "-" {
			lines = append(lines, [...]string{"X-PageSize", "X-TotalPages", "X-TotalItems"}[i]+": "+value)
		}
	}
	return lines
}

// pages responds by page_number, counted from 1; a number beyond the list is refused, as the service may.
func pages(list ...harness.Step) harness.Step {
	return func(r *http.Request) (*http.Response, error) {
		number, err := strconv.Atoi(r.URL.Query().Get("page_number"))
		if err != nil || number < 1 || number > len(list) {
			return harness.ServiceError(400, "invalid_request")(r)
		}
		return list[number-1](r)
	}
}

// scripted returns the configuration of a client that transport serves.
func scripted(transport http.RoundTripper) prepaid.Config {
	config := harness.Config("https://cards.example")
	config.Transport = transport
	return config
}

// bubble runs a parallel subtest in a synctest bubble.
func bubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, test)
	})
}

func pagedClient(t *testing.T, list ...harness.Step) (*prepaid.Client, *harness.Script) {
	t.Helper()
	service := harness.NewScript(pages(list...))
	config := scripted(service)
	config.Retry.MaxAttempts = 1
	return harness.NewClient(t, config), service
}

func searchCompany(ctx context.Context, c *prepaid.Client, paging prepaid.Paging) iter.Seq2[*prepaid.Account, error] {
	return c.Accounts.SearchCompany(ctx, 7, prepaid.SearchCompanyParams{Paging: paging})
}

// collected returns the ids of an iteration, and its error.
func collected(seq iter.Seq2[*prepaid.Account, error]) (ids []string, err error) {
	for account, failure := range seq {
		if failure != nil {
			return ids, failure
		}
		ids = append(ids, string(account.ID))
	}
	return ids, nil
}

func ids(first, last int) []string {
	var list []string
	for number := first; number <= last; number++ {
		list = append(list, fmt.Sprint("acc-", number))
	}
	return list
}

func asked(service *harness.Script) []string {
	var numbers []string
	for _, request := range service.Requests() {
		_, query, _ := strings.Cut(request.Target, "?")
		numbers = append(numbers, query)
	}
	return numbers
}

// A page shows the values that the service applied; a malformed count is an error, since the list may be incomplete.
func TestPageHeaders(t *testing.T) {
	t.Parallel()
	for headers, want := range map[string]prepaid.Page[prepaid.Account]{
		"50 3 120":                   {Size: 50, TotalPages: 3, TotalItems: 120},
		"- - -":                      {},
		"- 3 -":                      {TotalPages: 3},
		"50 - 120":                   {Size: 50, TotalItems: 120},
		"0 0 0":                      {},
		"many - -":                   {},
		"50 3.0 120":                 {Number: -1},
		"50 3 1e3":                   {Number: -1},
		"-1 3 120":                   {TotalPages: 3, TotalItems: 120},
		"50 -2 120":                  {Number: -1},
		"50 3 -3":                    {Number: -1},
		"50 999999999999999999999 1": {Number: -1},
		"2 3 0":                      {Number: -2},
		"2 3 3":                      {Number: -2},
		"2 3 4":                      {Size: 2, TotalPages: 3, TotalItems: 4},
	} {
		client, service := pagedClient(t, pageOf(1, 2, headers))
		page, err := client.Accounts.SearchCompanyPage(t.Context(), 7, prepaid.SearchCompanyParams{Paging: prepaid.Paging{Size: 2}})
		if want.Number < 0 {
			require.ErrorContains(t, err, map[int]string{-1: "a paging header is not a whole number", -2: "less than the pages hold"}[want.Number], headers)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 1, page.Number)
		require.Len(t, page.Items, 2)
		require.Equal(t, want.Size, page.Size, headers)
		require.Equal(t, want.TotalPages, page.TotalPages, headers)
		require.Equal(t, want.TotalItems, page.TotalItems, headers)
		require.Equal(t, []string{"page_number=1&page_size=2"}, asked(service))
	}
}

// Last uses the service's count or, without one, an empty page.
func TestPageLast(t *testing.T) {
	t.Parallel()
	client, _ := pagedClient(t,
		pageOf(1, 2, "2 3 5"), pageOf(3, 4, "2 3 5"), pageOf(5, 5, "2 3 5"), pageOf(6, 6, ""), pageOf(1, 0, ""), harness.Respond(204, "", ""))
	for number, last := range []bool{false, false, true, false, true, true} {
		page, err := client.Accounts.SearchPage(t.Context(), prepaid.SearchAccountsParams{
			ProgramClientID: "acme", ClientAccountKey: "k", Paging: prepaid.Paging{Page: number + 1},
		})
		require.NoError(t, err)
		require.Equal(t, number+1, page.Number)
		require.Equal(t, last, page.Last(), number+1)
	}
	require.True(t, new(prepaid.Page[int]).Last())
}

// How an iteration finds its end, with and without pages fetched ahead: nothing is lost or doubled, and no page beyond
// the last is requested.
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
		"nothing, reported":         {[]harness.Step{harness.Respond(204, "", "", "X-TotalPages: 0")}, nil, 1, nil},
		"empty array":               {[]harness.Step{harness.Respond(200, harness.VendorJSON, "[]")}, nil, 1, nil},
		"untold, short page":        {[]harness.Step{pageOf(1, 2, ""), pageOf(3, 3, ""), pageOf(4, 5, ""), harness.Respond(204, "", "")}, ids(1, 5), 4, nil},
		"untold, last page again":   {[]harness.Step{pageOf(1, 2, ""), pageOf(3, 3, ""), pageOf(3, 3, "")}, ids(1, 3), 3, nil},
		"untold, empty page":        {[]harness.Step{pageOf(1, 2, ""), pageOf(3, 4, ""), harness.Respond(200, harness.VendorJSON, "[]")}, ids(1, 4), 3, nil},
		"untold, 204":               {[]harness.Step{pageOf(1, 2, ""), harness.Respond(204, "", "")}, ids(1, 2), 2, nil},
		"untold, longer pages":      {[]harness.Step{pageOf(1, 2, ""), pageOf(3, 5, ""), pageOf(6, 6, "")}, ids(1, 6), 4, nil},
		"one bare account":          {[]harness.Step{harness.Respond(200, harness.VendorJSON, harness.AccountJSON), harness.Respond(204, "", "")}, ids(1, 1), 1, nil},
		"bare accounts for ever":    {[]harness.Step{harness.Respond(200, harness.VendorJSON, harness.AccountJSON), harness.Respond(200, harness.VendorJSON, harness.AccountJSON)}, ids(1, 1), 1, nil},
		"a bare last account":       {[]harness.Step{pageOf(1, 2, "2 2 3"), harness.Respond(200, harness.VendorJSON, strings.Replace(harness.AccountJSON, "acc-1", "acc-3", 1), "X-TotalPages: 2")}, ids(1, 3), 2, nil},
		"untold, the same page":     {[]harness.Step{pageOf(1, 2, ""), pageOf(1, 2, "")}, ids(1, 2), 2, errIncomplete},
		"reported, the same page":   {[]harness.Step{pageOf(1, 2, "2 5 9"), pageOf(1, 2, "2 5 9")}, ids(1, 2), 2, errIncomplete},
		"all seen, the same page":   {[]harness.Step{pageOf(1, 2, "2 - 2"), pageOf(1, 2, "2 - 2")}, ids(1, 2), 2, nil},
		"the list shrinks":          {[]harness.Step{pageOf(1, 2, "2 3 5"), pageOf(3, 3, "2 2 3")}, ids(1, 3), 2, errIncomplete},
		"the list shrinks to none":  {[]harness.Step{pageOf(1, 2, "2 3 5"), harness.Respond(204, "", "", "X-TotalPages: 1")}, ids(1, 2), 2, errIncomplete},
		"a page is gone":            {[]harness.Step{pageOf(1, 2, "2 3 5"), harness.ServiceError(400, "invalid_request")}, ids(1, 2), 2, errIncomplete},
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
					require.ErrorAs(t, err, new(*prepaid.DecodeError))
				case tc.is != nil:
					require.True(t, tc.is == errIncomplete && isIncomplete(err) || errors.Is(err, tc.is), "%v", err)
					require.Equal(t, "Accounts.SearchCompany", harness.CallError(t, err).Operation)
					require.Equal(t, prepaid.OutcomeNotProcessed == harness.CallError(t, err).Outcome, tc.is != prepaid.ErrForbidden)
					refusal, refused := errors.AsType[*prepaid.APIError](err)
					if refused = refused && refusal.StatusCode == 400; refused != (name == "a page is gone") {
						t.Errorf("refused with 400: %v", refused)
					}
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

// An iteration starts where the caller asks.
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
