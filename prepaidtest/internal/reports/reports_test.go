package reports

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func TestAReportIsJSON(t *testing.T) {
	t.Parallel()
	text := "a,b\r\n\"quoted\",\\ \x00\t\x1fäöü\n"
	var out strings.Builder
	require.NoError(t, writeReport(&out, func(w io.Writer, headers bool) (int, error) {
		require.True(t, headers)
		_, err := io.WriteString(w, text)
		return 7, err
	}, true))
	var got struct {
		Data    string `json:"reportdata"`
		Records int    `json:"totalrecords"`
	}
	require.NoError(t, json.Unmarshal([]byte(out.String()), &got))
	require.Equal(t, text, got.Data)
	require.Equal(t, 7, got.Records)
	failed := errors.New("no")
	require.ErrorIs(t, writeReport(io.Discard, func(io.Writer, bool) (int, error) { return 0, failed }, false), failed)
}

func TestAFixedTemplateIsCSV(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a\"b,\n"} {
		_, ok := Fixed(text)
		require.False(t, ok, text)
	}
	fixed, ok := Fixed("a,b\n1,2\n3\n")
	require.True(t, ok)
	for headers, want := range map[bool]string{true: "a,b\n1,2\n3\n", false: "1,2\n3\n"} {
		var out strings.Builder
		records, err := fixed.write(&out, headers)
		require.NoError(t, err)
		require.Equal(t, 2, records)
		require.Equal(t, want, out.String())
	}
}

func TestTheBuiltInReportIsFixedByItsCounts(t *testing.T) {
	t.Parallel()
	books := ledger.New(ledger.Options{IDs: ids.New(nil), Announce: func(ledger.Locked, *ledger.Account, ledger.Item) {}})
	reports := New(books, clock.New(time.Time{}, true), ids.New(nil), time.Minute)
	l := books.Lock()
	defer l.Unlock()
	a := l.NewAccount(l.PutCompany(ledger.CompanyData{ID: 42}), time.Now())
	l.Add(a)
	l.Post(a, ledger.Entry{Type: ledger.CodeLoad, Amount: wire.Whole(5)}, time.Now())
	unknown, run := new(run), new(run)
	reports.beginRun(l, reports.templates[DailySettlement], run)
	l.Post(a, ledger.Entry{Type: ledger.CodeLoad, Amount: wire.Whole(6)}, time.Now())
	records, err := run.write(io.Discard, true)
	require.NoError(t, err)
	require.Equal(t, 1, records)
	require.True(t, covers(l.View, []int{2}))
	for _, counts := range [][]int{{3}, {-1}, {1, 0}} {
		require.False(t, covers(l.View, counts))
	}
	unknown.template = "gone"
	_, err = reports.writerOf(l.View, unknown)(io.Discard, true)
	require.EqualError(t, err, "the template is not registered")
}
