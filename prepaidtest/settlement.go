package prepaidtest

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// itemCounts says how much history every account has. Accounts and items are only ever appended, so that the counts
// fix the ledger as it stands.
func itemCounts(l View) []int {
	counts := make([]int, len(l.Accounts()))
	for i, a := range l.Accounts() {
		counts[i] = len(a.items)
	}
	return counts
}

// ledgerReport is the built-in report over the ledger that counts fix.
func ledgerReport(l View, counts []int) reportWriter {
	histories := make([][]item, len(counts))
	for i, n := range counts {
		histories[i] = l.Accounts()[i].items[:n:n]
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
					i.running.String(), wire.DateTime(i.occurredAt).String(), i.merchant.Acceptor, i.merchant.Terminal, i.merchant.Category,
				}); err != nil {
					return records, err
				}
			}
		}
		rows.Flush()
		return records, rows.Error()
	}
}

// covers reports whether the ledger holds what the counts of a run fix.
func covers(l View, counts []int) bool {
	if len(counts) > len(l.Accounts()) {
		return false
	}
	for i, n := range counts {
		if n < 0 || n > len(l.Accounts()[i].items) {
			return false
		}
	}
	return true
}
