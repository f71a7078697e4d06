package prepaid

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// failingWriter takes so many bytes and then fails.
type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	n := min(w.left, len(p))
	w.left -= n
	if n < len(p) {
		return n, w.err
	}
	return n, nil
}

func TestReportWriteTo(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("1,\"Zoë \"\"Z\"\"\nde Graaf\"\r\n", 40_000) // several blocks
	body := &closeCounter{Reader: strings.NewReader(reportBody(t, text, 40_000))}
	r := newReportReader(ReportRun{}, body, nil)
	head := make([]byte, 100)
	_, err := io.ReadFull(r, head) // what was read before is not written again
	require.NoError(t, err)
	var rest strings.Builder
	n, err := io.Copy(&rest, r)
	require.NoError(t, err)
	require.Equal(t, int64(len(text)-len(head)), n)
	require.True(t, text == string(head)+rest.String())
	require.Equal(t, 1, body.closed)
	n, err = r.WriteTo(&rest)
	require.NoError(t, err, "still at its end")
	require.Zero(t, n)
}

func TestReportWriteToFails(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	text := strings.Repeat("a\n", 500_000)
	for _, room := range []int{0, 1, 300_000} {
		for want, writer := range map[error]io.Writer{
			full:             &failingWriter{left: room, err: full},
			io.ErrShortWrite: &failingWriter{left: room},
		} {
			body := &closeCounter{Reader: strings.NewReader(reportBody(t, text, 500_000))}
			r := newReportReader(ReportRun{}, body, nil)
			n, err := r.WriteTo(writer)
			require.Equal(t, want, err)
			require.Equal(t, int64(room), n)
			require.Equal(t, 1, body.closed)
			_, err = r.Read(make([]byte, 1))
			require.ErrorIs(t, err, ErrReportUsed)
		}
	}
}

// A fault behind an enlarged buffer is told where it stands in the body.
func TestReportWriteToTellsWhere(t *testing.T) {
	t.Parallel()
	body := `{"reportdata":"` + strings.Repeat(`a\n`, 200_000) + "\x01"
	r := newTestReport(body, false)
	_, err := r.Read(make([]byte, 7))
	require.NoError(t, err)
	n, err := r.WriteTo(io.Discard)
	require.Equal(t, int64(400_000-7), n)
	fault, ok := errors.AsType[*ReportError](err)
	require.True(t, ok)
	require.Equal(t, int64(200_000), fault.Rows)
	decode, ok := errors.AsType[*DecodeError](err)
	require.True(t, ok)
	require.Equal(t, int64(len(body)-1), decode.Offset)
}
