package prepaidvcr_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// settled is a program's sum of a report's column.
func settled(t *testing.T, c *prepaid.Client) (header []string, sum prepaid.Amount) {
	t.Helper()
	reader, err := c.Reporting.Run(t.Context(), "settlement", prepaid.RunReportParams{IncludeColumnHeaders: true})
	require.NoError(t, err)
	for row, err := range reader.Rows() {
		require.NoError(t, err)
		if header == nil {
			header = slices.Clone(row)
			continue
		}
		amount, err := prepaid.ParseAmount(row[2])
		require.NoError(t, err)
		sum, err = sum.Add(amount)
		require.NoError(t, err)
	}
	return header, sum
}

// Amounts in columns of Options.ReportAmounts are kept, so that sums are right in a replay. It needs no names: the
// cassette lists them.
func TestAmountsOfReports(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{ReportDelay: -1})
	srv.AddReportCSV("settlement", "account,note,amount,balance\r\nEA7000,\"a, b\",12.34,1.00\r\nEA7000,,-2.30,4111111111111111\r\n")
	options := prepaidvcr.Options{ReportColumns: []string{"account", "note"}, ReportAmounts: []string{"Amount", "balance"}}
	path := record(t, srv, options, func(c *prepaid.Client) {
		_, sum := settled(t, c)
		require.Equal(t, "10.04", sum.String())
	})
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	require.NotContains(t, string(content), "EA7000")
	require.NotContains(t, string(content), "a, b")
	require.NotContains(t, string(content), "4111111111111111")
	require.NoError(t, prepaidvcr.CheckFile(path+".yaml"))
	recorder, c := replay(t, path, prepaidvcr.Options{})
	header, sum := settled(t, c)
	require.Equal(t, []string{"account", "note", "amount", "balance"}, header)
	require.Equal(t, "10.04", sum.String())
	require.NoError(t, recorder.Stop())

	for name, edit := range map[string][2]string{
		"a cell below an amount":         {"12.34", "Mira"},
		"a name that is no column":       {"                - note\n", "                - note\n                - Mira Smith\n"},
		"a name that the report has not": {"                - note\n", "                - Mira\n"},
		"an amount that is no column":    {"            Report-Amounts:\n", "            Report-Amounts:\n                - Mira\n"},
		"an amount elsewhere":            {"            Report-Amounts:\n                - amount\n", "            Report-Amounts:\n"},
		"in a request":                   {"        headers:\n", "        headers:\n            Report-Columns:\n                - Mira\n"},
	} {
		edited := strings.Replace(string(content), edit[0], edit[1], 1)
		require.NotEqual(t, string(content), edited, name)
		err := prepaidvcr.Check(strings.NewReader(edited))
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "Mira")
	}
	require.True(t, bytes.Contains(content, []byte("Report-Columns")))
}

// Without names, nothing of a report is kept.
func TestReportsWithoutColumns(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{ReportDelay: -1})
	srv.AddReportCSV("settlement", "account,note,amount\r\nEA7000,x,12.34\r\n")
	for _, options := range []prepaidvcr.Options{
		{}, {ReportColumns: []string{"account", "amount"}}, {ReportAmounts: []string{"amount"}},
	} {
		path := record(t, srv, options, func(c *prepaid.Client) { settled(t, c) })
		content, err := os.ReadFile(path + ".yaml")
		require.NoError(t, err)
		require.NotContains(t, string(content), "12.34")
		require.NotContains(t, string(content), "note")
		require.NotContains(t, string(content), "Report-")
	}
}
