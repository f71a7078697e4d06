package prepaidtest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

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

func TestSpec_3_2_ProcessingUntilReady(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, ReportDelay: time.Minute})
	run := c.report(DailySettlement)
	for range 3 {
		require.Equal(t, 204, c.poll(DailySettlement, run))
		c.Advance(19 * time.Second)
	}
	c.Advance(3*time.Second - time.Nanosecond)
	require.Equal(t, 204, c.poll(DailySettlement, run))
	c.Advance(time.Nanosecond)
	for range 2 { // a result can be read more than once
		got := c.get(settlement + "/reports/" + run).ok().object()
		require.Len(t, got, 2)
		require.IsType(t, "", got["reportdata"])
		require.Equal(t, json.Number("0"), got["totalrecords"])
	}
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
	c.AddReportCSV("fixed", "a,b\n1,2\n")
	for value, want := range map[string]string{"true": "a,b\n1,2\n", "false": "1,2\n"} {
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
	for _, quoted := range []bool{false, true} {
		c := start(t, Options{ReportDelay: -1, QuotedStrings: quoted})
		got := c.get(settlement + withHeaders).ok()
		require.Equal(t, "application/octet-stream", got.header.Get("Content-Type"))
		run := string(got.body)
		if quoted {
			var err error
			run, err = strconv.Unquote(run)
			require.NoError(t, err)
		}
		require.True(t, wire.IsUUID(run))
		c.get(settlement + "/reports/" + run).ok()
	}
}

func TestSpec_4_2_ResultNeedsAToken(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	run := c.report(DailySettlement)
	c.send("GET", settlement+"/reports/"+run, "", http.Header{}).refused(401, "unauthorized")
}
