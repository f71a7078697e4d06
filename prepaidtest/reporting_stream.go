package prepaidtest

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

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
