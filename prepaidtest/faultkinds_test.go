package prepaidtest

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
)

const codesOperation, resultOperation = "GET /policy/mccodes", "GET /reporting/templates/{templatename}/reports/{reportid}"

func TestFault_SlowBody(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	id := c.AddAccount(SeedAccount{})
	want := c.get("accounts/" + id).ok().body
	pieces := (len(want) + faults.SlowPiece - 1) / faults.SlowPiece
	require.Greater(t, pieces, 5)
	c.Inject("GET /accounts/{id}", SlowBody(2*time.Millisecond))
	began := time.Now()
	got := c.get("accounts/" + id).ok()
	require.Equal(t, want, got.body)
	require.GreaterOrEqual(t, time.Since(began), time.Duration(pieces-1)*2*time.Millisecond)

	c.AddReportCSV("small", "a,b\n1,2\n")
	run := string(c.get("reporting/templates/small?include_column_headers=true").ok().body)
	c.Inject(resultOperation, SlowBody(10*time.Millisecond))
	began = time.Now()
	require.Equal(t, "a,b\n1,2\n", c.get("reporting/templates/small/reports/" + run).object()["reportdata"])
	require.GreaterOrEqual(t, time.Since(began), 20*time.Millisecond)
}

func TestFault_SlowBodyEndsWithTheServer(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{codesOperation, resultOperation} {
		c := start(t, Options{ReportDelay: -1})
		path := "policy/mccodes"
		if operation == resultOperation {
			path = settlement + "/reports/" + string(c.get(settlement+"?include_column_headers=true").ok().body)
		}
		c.Inject(operation, SlowBody(time.Hour))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+path, http.NoBody)
		require.NoError(t, err)
		request.Header = c.header("")
		response, err := c.http.Do(request)
		require.NoError(t, err)
		first := make([]byte, 1)
		_, err = io.ReadFull(response.Body, first)
		require.NoError(t, err)
		require.NoError(t, c.Close())
		_, err = io.ReadAll(response.Body)
		require.Error(t, err, operation)
		require.NoError(t, response.Body.Close())
	}
}

// The 204 of a running report has a body; net/http would not write it.
func TestFault_SlowBodyOfAReportUnderWay(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, ReportDelay: time.Minute})
	run := string(c.get(settlement + "?include_column_headers=true").ok().body)
	c.Inject(resultOperation, SlowBody(time.Hour))
	require.Equal(t, 204, c.get(settlement+"/reports/"+run).status)
}

func TestFault_ProxyPageAndTooManyRequests(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{})
	c.Inject("PUT /accounts/{id}/status", ProxyPage(502), TooManyRequests(1500*time.Millisecond).Times(2), TooManyRequests(0))
	send := func() reply { return c.do("PUT", "accounts/"+id+"/status", `{"status":"closed"}`) }
	page := send()
	require.Equal(t, 502, page.status)
	require.Equal(t, "text/html", page.header.Get("Content-Type"))
	require.Contains(t, string(page.body), "<h1>502 Bad Gateway</h1>")
	for range 2 {
		got := send()
		got.refused(429, "rate_limit_exceeded")
		require.Equal(t, "2", got.header.Get("Retry-After"))
	}
	got := send()
	got.refused(429, "rate_limit_exceeded")
	require.Empty(t, got.header.Values("Retry-After"))
	require.Equal(t, "active", c.Status(id), "nothing was carried out")
	send().empty(200)
}

func TestFault_SubstituteContentType(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	id := c.AddAccount(SeedAccount{})
	want := c.get("accounts/" + id).ok().body
	c.Inject("GET /accounts/{id}", SubstituteContentType("application/json"), SubstituteContentType(""))
	got := c.get("accounts/" + id).ok()
	require.Equal(t, []string{"application/json"}, got.header.Values("Content-Type"))
	require.Equal(t, want, got.body)
	got = c.get("accounts/" + id).ok()
	require.Empty(t, got.header.Values("Content-Type"))
	require.Equal(t, want, got.body)

	c.Inject("PUT /accounts/{id}/status", SubstituteContentType("text/plain"))
	c.do("PUT", "accounts/"+id+"/status", `{"status":"closed"}`).empty(200)
	require.Equal(t, "closed", c.Status(id))

	run := string(c.get(settlement + "?include_column_headers=true").ok().body)
	c.Inject(resultOperation, SubstituteContentType("text/plain"), SubstituteContentType(""))
	require.Equal(t, "text/plain", c.get(settlement+"/reports/"+run).ok().header.Get("Content-Type"))
	require.Empty(t, c.get(settlement+"/reports/"+run).ok().header.Values("Content-Type"))
}

func TestFault_WrongLength(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	id := c.AddAccount(SeedAccount{})
	path := "accounts/" + id
	want := c.get(path).ok().body
	c.Inject("GET /accounts/{id}", WrongLength(7), WrongLength(-7), WrongLength(-100_000))
	got, err := c.try("GET", path, "", c.header(""))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, want, got.body)
	require.Equal(t, want[:len(want)-7], c.get(path).ok().body)
	require.Empty(t, c.get(path).ok().body)

	c.AddReportCSV("small", "a,b\n1,2\n")
	run := string(c.get("reporting/templates/small?include_column_headers=true").ok().body)
	path = "reporting/templates/small/reports/" + run
	want = c.get(path).ok().body
	c.Inject(resultOperation, WrongLength(1), WrongLength(-1))
	got, err = c.try("GET", path, "", c.header(""))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, want, got.body)
	require.Equal(t, want[:len(want)-1], c.get(path).ok().body)

	c.AddReport("broken", func(io.Writer, bool) (int, error) { return 0, io.ErrNoProgress })
	run = string(c.get("reporting/templates/broken?include_column_headers=true").ok().body)
	c.Inject(resultOperation, WrongLength(1).Always())
	_, err = c.try("GET", "reporting/templates/broken/reports/"+run, "", c.header(""))
	require.Error(t, err)
}

// A caller that stops reading does not prevent Close.
func TestFault_WrongLengthEndsWithTheServer(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	c.AddReport("huge", func(w io.Writer, _ bool) (int, error) {
		line := []byte(strings.Repeat("x", 1<<16) + "\n")
		for range 1 << 9 {
			if _, err := w.Write(line); err != nil {
				return 0, err
			}
		}
		return 1 << 9, nil
	})
	run := string(c.get("reporting/templates/huge?include_column_headers=true").ok().body)
	c.Inject(resultOperation, WrongLength(1))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"reporting/templates/huge/reports/"+run, http.NoBody)
	require.NoError(t, err)
	request.Header = c.header("")
	response, err := c.http.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	_, err = bufio.NewReader(response.Body).ReadByte()
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

func TestFault_ExpireToken(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	other := c.newToken()
	c.Inject(AnyOperation, ExpireToken())
	spare := c.newToken()
	require.Equal(t, 1, c.FaultsLeft(), "the token endpoint takes no token")
	c.get("policy/mccodes").refused(401, "unauthorized")
	require.Zero(t, c.FaultsLeft())
	c.get("policy/mccodes").refused(401, "unauthorized")
	for _, token := range []string{other, spare, c.newToken()} {
		c.token = token
		c.get("policy/mccodes").ok()
	}

	c = start(t, Options{BadTokenOnReportStart: 400})
	c.Inject("GET /reporting/templates/{templatename}", ExpireToken())
	c.get(settlement+"?include_column_headers=true").refused(400, "unauthorized")
}
