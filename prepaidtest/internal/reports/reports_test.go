package reports

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func TestAReportIsJSON(t *testing.T) {
	t.Parallel()
	text := "a,b\r\n\"quoted\",\\ \x00\t\x1fäöü\n"
	var out strings.Builder
	require.NoError(t, writeReport(&out, func(w io.Writer, _ bool) (int, error) {
		_, err := io.WriteString(w, text)
		return 7, err
	}, true))
	var got struct {
		Data string `json:"reportdata"`
	}
	require.NoError(t, json.Unmarshal([]byte(out.String()), &got))
	require.Equal(t, text, got.Data)
	_, ok := Fixed("")
	require.False(t, ok, "no header row")
}

func TestTheBuiltInReportIsFixedByItsCounts(t *testing.T) {
	t.Parallel()
	books := ledger.New(ledger.Options{IDs: ids.New(nil), Announce: func(ledger.Locked, *ledger.Account, ledger.Item) {}})
	l := books.Lock()
	defer l.Unlock()
	a := l.Open(l.PutCompany(ledger.CompanyData{ID: 42}), ledger.AccountData{Balance: wire.Whole(5)}, "", time.Now())
	write := ledgerReport(l.View, itemCounts(l.View))
	l.Post(a, ledger.Entry{Type: ledger.CodeLoad, Amount: wire.Whole(6)}, time.Now())
	records, err := write(io.Discard, true)
	require.NoError(t, err)
	require.Equal(t, 1, records)
	require.True(t, covers(l.View, []int{2}))
	for _, counts := range [][]int{{3}, {-1}, {1, 0}} {
		require.False(t, covers(l.View, counts))
	}
}
