package reports

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// itemCounts counts the items of each account. Accounts and items are only appended, so the counts identify the
// current ledger.
func itemCounts(l ledger.View) []int {
	counts := make([]int, len(l.Accounts()))
	for i, a := range l.Accounts() {
		counts[i] = len(a.Items)
	}
	return counts
}

// ledgerReport is the built-in report on a state of the ledger: counts has the number of items that each account then had.
func ledgerReport(l ledger.View, counts []int) Writer {
	histories := make([][]ledger.Item, len(counts))
	for i, n := range counts {
		histories[i] = l.Accounts()[i].Items[:n:n]
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
					strconv.FormatInt(i.ID, 10), i.Parent(), i.AccountID, string(i.Type), i.Amount.String(), ledger.Currency, i.Fee.String(),
					i.RunningBalance.String(), wire.DateTime(i.OccurredAt).String(), i.Merchant.CardAcceptorID, i.Merchant.TerminalID, i.Merchant.MerchantCategoryCode,
				}); err != nil {
					return records, err
				}
			}
		}
		rows.Flush()
		return records, rows.Error()
	}
}

// covers reports whether the ledger has all items in the counts of a run.
func covers(l ledger.View, counts []int) bool {
	if len(counts) > len(l.Accounts()) {
		return false
	}
	for i, n := range counts {
		if n < 0 || n > len(l.Accounts()[i].Items) {
			return false
		}
	}
	return true
}
