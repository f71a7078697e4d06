package reconcile

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// breaking returns a cursor whose file ends after records.
func breaking(records ...record) *cursor {
	s := &source{rest: records, left: 1, in: bufio.NewReader(bytes.NewReader(nil))}
	_, _ = s.next()
	return &cursor{compare: byAmount, sources: []*source{s}}
}

// A temporary file that cannot be read ends the run, at each place.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	at := time.Now().UnixMicro()
	row := record{account: "A", id: "7", amount: prepaid.Cents(1), from: at, to: at}
	other, free := row, row
	other.id, free.id = "8", ""
	w := &work{yield: func(Finding, error) bool { return true }, spans: map[prepaid.AccountID]*span{"A": {unbounded, unbounded}}, completeTo: at + 1}
	none := func() *cursor { return &cursor{} }
	for name, c := range map[string]struct{ rows, items *cursor }{
		"a row": {breaking(row), none()}, "an item": {none(), breaking(row)}, "a pair": {breaking(row), breaking(row)},
		"a free row": {breaking(free), none()}, "a free item": {none(), breaking(free)}, "after a row": {breaking(other), breaking(row, other)},
	} {
		require.ErrorIs(t, w.compare(t.Context(), "A", c.rows, c.items), io.EOF, name)
	}
	require.ErrorIs(t, breaking(row).skip("A"), io.EOF)

	c := &comparison{work: w, span: w.spans["A"], account: "A", reportFrom: unbounded}
	for name, pair := range map[string][2]*cursor{
		"a row": {breaking(free), none()}, "an item": {none(), breaking(free)}, "a pair": {breaking(free), breaking(free)},
	} {
		s := sweep{comparison: c, amount: free.amount}
		require.ErrorIs(t, s.all(pair[0], pair[1]), io.EOF, name)
	}

	w.yield = func(Finding, error) bool { return false }
	for name, pair := range map[string][2]*cursor{"a row": {breaking(free), none()}, "an item": {none(), breaking(free)}} {
		s := sweep{comparison: c, amount: free.amount}
		require.ErrorIs(t, s.all(pair[0], pair[1]), errLeft, name)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, w.compare(canceled, "A", breaking(row), none()), context.Canceled)
}
