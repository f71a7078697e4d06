package prepaidtest

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const settlement = "reporting/templates/daily_settlement"

func TestSpec_3_2_TheContentIsFixedAtTheRequest(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, ReportDelay: time.Minute})
	c.AddAccount(SeedAccount{Balance: "5"})
	run := c.report(DailySettlement)
	c.AddAccount(SeedAccount{Balance: "7"}) // after the request: not in the report
	c.Advance(time.Minute)
	got := c.get(settlement + "/reports/" + run).ok().object()
	require.Len(t, got, 2)
	require.Equal(t, json.Number("1"), got["totalrecords"])
	rows, err := csv.NewReader(strings.NewReader(got["reportdata"].(string))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, "account_id", rows[0][2])
	require.Equal(t, "5.00", rows[1][4])
	run = c.report(DailySettlement)
	c.Advance(time.Minute)
	require.Equal(t, json.Number("2"), c.get(settlement + "/reports/" + run).ok().object()["totalrecords"])
}

func TestSpec_4_2_UnknownTemplateAndReport(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	require.Contains(t, c.get("reporting/templates/nothing?include_column_headers=true").refused(400, "invalid_request"), "templatename")
	c.AddReportCSV("fixed", "a,b\n1,2\n\"x\ty\"\"z\\\x00\x1f\",é\n")
	run := string(c.get("reporting/templates/fixed?include_column_headers=false").ok().body)
	c.get(settlement+"/reports/"+run).refused(400, "invalid_request")
	c.get("reporting/templates/fixed/reports/nothing").refused(400, "invalid_request")
	got := c.get("reporting/templates/fixed/reports/" + run).ok().object()
	require.Equal(t, "1,2\n\"x\ty\"\"z\\\x00\x1f\",é\n", got["reportdata"])
	require.Equal(t, json.Number("2"), got["totalrecords"])
}

// The 204 has a body on the wire, like the service's; only a raw connection can show that.
func TestSpec_7_204_ProcessingHasAnErrorShapedBody(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, ReportDelay: time.Minute})
	run := string(c.get(settlement + "?include_column_headers=true").ok().body)
	connection := c.dial()
	_, err := io.WriteString(connection, "GET /3.0/"+settlement+"/reports/"+run+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+c.token+"\r\n\r\n")
	require.NoError(t, err)
	all, err := io.ReadAll(connection)
	require.NoError(t, err)
	head, text, _ := strings.Cut(string(all), "\r\n\r\n")
	require.True(t, strings.HasPrefix(head, "HTTP/1.1 204 No Content\r\n"), head)
	require.Contains(t, head, "Content-Length: 94\r\n")
	require.NotContains(t, head, "Connection:", "the caller's library may keep the connection, and must handle the surplus")
	require.Equal(t, `{"error":"report_processing","error_description":"the report is being processed, please wait"}`, text)

	c.Advance(time.Minute)
	c.get(settlement + "/reports/" + run).ok()
	statuses := make([]int, 0, 4)
	for _, request := range c.Requests() {
		statuses = append(statuses, request.Status)
	}
	require.Equal(t, []int{200, 200, 204, 200}, statuses)
}

// If a report fails early, the response is 500; if it fails late, the response is cut.
func TestReport_ThatFails(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	for template, size := range map[string]int{"early": 32 << 10, "late": 32<<10 + 1} {
		c.AddReport(template, func(w io.Writer, _ bool) (int, error) {
			_, _ = io.WriteString(w, strings.Repeat("x", size))
			return 0, errors.New("broken")
		})
		run := string(c.get("reporting/templates/" + template + "?include_column_headers=true").ok().body)
		path := "reporting/templates/" + template + "/reports/" + run
		if template == "early" {
			c.get(path).refused(500, "server_error")
			continue
		}
		got, err := c.try("GET", path, "", c.header(""))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, `{"reportdata":"`+strings.Repeat("x", size), string(got.body))
	}
}

func TestReport_MisuseFailsTheTest(t *testing.T) {
	t.Parallel()
	s, err := Start(Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	s.AddReportCSV("bad", "a\"b,\n")
	s.AddReportCSV("empty", "")
	var state strings.Builder
	require.NoError(t, s.Save(&state))
	require.Contains(t, state.String(), `"templates":[]`)
}

const withHeaders = "?include_column_headers=true"

func (c *caller) report(template string) string {
	c.t.Helper()
	return string(c.get("reporting/templates/" + template + withHeaders).ok().body)
}

func (c *caller) poll(template, run string) int {
	c.t.Helper()
	return c.get("reporting/templates/" + template + "/reports/" + run).status
}

func TestSpec_3_2_DuplicateUntilTheRunHasFinished(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, ReportDelay: time.Minute})
	c.AddReportCSV("other", "a\n1\n")
	run := c.report(DailySettlement)
	other := c.report("other") // another template is no obstacle
	for range 2 {
		c.get(settlement+withHeaders).refused(409, "duplicate_request")
		c.get("reporting/templates/other"+withHeaders).refused(409, "duplicate_request")
		require.Equal(t, 204, c.poll(DailySettlement, run))
		c.Advance(30*time.Second - time.Nanosecond)
	}
	c.Advance(2 * time.Nanosecond)
	require.NotEqual(t, run, c.report(DailySettlement))
	c.get(settlement + "/reports/" + run).ok()
	c.get("reporting/templates/other/reports/" + other).ok()
}

func TestSpec_8_AReportIsGoneFourHoursAfterTheRequest(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, time.Minute, 4*time.Hour - time.Second} {
		c := start(t, Options{FrozenClock: true, ReportDelay: delay, TokenLifetime: 24 * time.Hour})
		run := c.report(DailySettlement)
		c.Advance(4*time.Hour - time.Nanosecond)
		c.get(settlement + "/reports/" + run).ok()
		c.Advance(time.Nanosecond)
		require.Contains(t, c.get(settlement+"/reports/"+run).refused(400, "invalid_request"), "reportid")
		c.report(DailySettlement) // and can be requested again
	}
}

func TestSpec_4_2_IncludeColumnHeaders(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	const empty = "\"\"\r\n" // the one value of a row; without the quotes it would be no row
	c.AddReportCSV("fixed", "a\r\n"+empty)
	for value, want := range map[string]string{"true": "a\r\n" + empty, "false": empty} {
		run := string(c.get("reporting/templates/fixed?include_column_headers=" + value).ok().body)
		got := c.get("reporting/templates/fixed/reports/" + run).ok().object()
		require.Equal(t, want, got["reportdata"])
		require.Equal(t, json.Number("1"), got["totalrecords"], "the header row is no record")
	}
	for _, query := range []string{"", "?include_column_headers=", "?include_column_headers=1", "?include_column_headers=True"} {
		require.Contains(t, c.get("reporting/templates/fixed"+query).refused(400, "invalid_request"), "include_column_headers")
	}
	// Required, with a default of false: a lenient server takes the default.
	lenient := start(t, Options{ReportDelay: -1, Lenient: true})
	lenient.AddReportCSV("fixed", "a,b\n1,2\n")
	run := string(lenient.get("reporting/templates/fixed").ok().body)
	require.Equal(t, "1,2\n", lenient.get("reporting/templates/fixed/reports/" + run).ok().object()["reportdata"])
}

func TestSpec_4_2_TheReportIDIsAString(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	got := c.get(settlement + withHeaders).ok()
	require.Equal(t, "application/octet-stream", got.header.Get("Content-Type"))
	require.True(t, wire.IsUUID(string(got.body)))
	c.get(settlement + "/reports/" + string(got.body)).ok()
}
