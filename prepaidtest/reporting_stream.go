package prepaidtest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
	"net/http"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// streamHead is how much of a report is held back, so that a run that fails at once can still be answered 500.
const streamHead = 32 << 10

// writeReport writes the report result (2.11) member by member.
func writeReport(w io.Writer, write ReportFunc, headers bool) error {
	buffered := bufio.NewWriterSize(w, 16<<10)
	_, _ = buffered.WriteString(`{"reportdata":"`) // a bufio.Writer keeps its first error
	records, err := write(&jsonText{w: buffered}, headers)
	if err != nil {
		return err
	}
	_, _ = buffered.WriteString(`","totalrecords":` + strconv.Itoa(records) + `}`)
	return buffered.Flush()
}

// jsonText escapes what is written as the inside of a JSON string.
type jsonText struct{ w *bufio.Writer }

// Write escapes control characters, quotes and backslashes; bytes above ASCII pass, as UTF-8 does.
func (j *jsonText) Write(p []byte) (int, error) {
	plain := 0 // start of what needs no escape and is not written yet
	for i, c := range p {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		_, _ = j.w.Write(p[plain:i]) // a bufio.Writer keeps its first error
		plain = i + 1
		switch c {
		case '"', '\\':
			_, _ = j.w.Write([]byte{'\\', c})
		case '\n':
			_, _ = j.w.WriteString(`\n`)
		default:
			_, _ = j.w.WriteString(`\u00` + strconv.FormatInt(0x100+int64(c), 16)[1:])
		}
	}
	if _, err := j.w.Write(p[plain:]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// headWriter holds back the first bytes until there are too many, or until release.
type headWriter struct {
	w     io.Writer
	limit int
	held  bytes.Buffer
	begun bool
}

// Write implements io.Writer.
func (h *headWriter) Write(p []byte) (int, error) {
	if !h.begun && h.held.Len()+len(p) <= h.limit {
		return h.held.Write(p)
	}
	if err := h.release(); err != nil {
		return 0, err
	}
	return h.w.Write(p)
}

func (h *headWriter) release() error {
	h.begun = true
	_, err := h.held.WriteTo(h.w)
	return err
}

// writeStream sends an answer that is made while it is sent, and returns the one the caller got. A failure
// before anything went out is a 500; later it cuts the connection, as nothing else would be noticed.
func (s *Server) writeStream(w http.ResponseWriter, c *call, a reply) reply {
	head := &headWriter{w: w, limit: streamHead}
	a.header(w.Header())
	err := a.stream(head)
	if err == nil {
		err = head.release()
	} else if !head.begun {
		a = c.refuse(http.StatusInternalServerError, "server_error", "the report failed, request it again")
		s.write(w, c.request, a)
		return a
	}
	if err != nil {
		cut(w, nil)
	}
	return a
}

// truncateStream sends half of the beginning and cuts the connection.
func truncateStream(w http.ResponseWriter, a reply) {
	var start bytes.Buffer
	_ = a.stream(&limitedBuffer{buffer: &start, limit: streamHead}) // cut short either way
	a.body, a.stream = start.Bytes(), nil
	cut(w, truncated(a))
}

// limitedBuffer keeps the first bytes and forgets the rest.
type limitedBuffer struct {
	buffer *bytes.Buffer
	limit  int
}

// Write implements io.Writer.
func (l *limitedBuffer) Write(p []byte) (int, error) {
	l.buffer.Write(p[:min(len(p), max(l.limit-l.buffer.Len(), 0))])
	return len(p), nil
}

// itemCounts says how much history every account has. Accounts and items are only ever appended, so that the counts
// fix the ledger as it stands. It needs s.mu.
func (s *Server) itemCounts() []int {
	counts := make([]int, len(s.order))
	for i, a := range s.order {
		counts[i] = len(a.items)
	}
	return counts
}

// settlement is the built-in report over the ledger that counts fix. It needs s.mu.
func (s *Server) settlement(counts []int) ReportFunc {
	histories := make([][]item, len(counts))
	for i, n := range counts {
		histories[i] = s.order[i].items[:n:n]
	}
	return func(w io.Writer, headers bool) (int, error) {
		rows := csv.NewWriter(w)
		if headers {
			_ = rows.Write([]string{ // a csv.Writer keeps its first error
				"id", "parent_id", "account_id", "type", "amount", "currency", "fee_amount", "running_balance_amount",
				"occurred_at", "card_acceptor_id", "terminal_id", "merchant_category_code",
			})
		}
		records := 0
		for _, items := range histories {
			for _, i := range items {
				records++
				if err := rows.Write([]string{
					strconv.FormatInt(i.id, 10), i.parentID(), i.account, string(i.code), i.amount.String(), currency, i.fee.String(),
					i.running.String(), wire.DateTime(i.occurredAt).String(), i.merchant.acceptor, i.merchant.terminal, i.merchant.category,
				}); err != nil {
					return records, err
				}
			}
		}
		rows.Flush()
		return records, rows.Error()
	}
}
