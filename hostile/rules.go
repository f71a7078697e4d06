package hostile

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// sent is the part of a request that a repeat must not change.
type sent struct {
	path string
	body map[string]any
}

// careless finds payments that were not made twice, although their requests break a rule: the overtaken request may have been
// refused, or the emulator may have separated the request IDs of the two operations. The caller holds the lock.
func (r *run) careless(b books, log map[int64]prepaidtest.Request) (found []Finding) {
	first, broken := make(map[prepaid.RequestID]sent), make(map[int]string)
	for _, f := range r.flights {
		var now sent
		if q, ok := log[f.number]; ok && json.Unmarshal([]byte(q.Body), &now.body) == nil {
			now.path = q.Path
		}
		before, known := first[f.requestID]
		if !known && f.requestID != "" {
			first[f.requestID] = now
		}
		switch {
		case f.overlaps:
			broken[f.payment] = fmt.Sprintf("request %d was sent while an earlier one still ran", f.arrival)
		case known && !reflect.DeepEqual(before, now):
			broken[f.payment] = fmt.Sprintf("request %d has other values than an earlier request with the same ID", f.arrival)
		case !r.orders.list[f.payment].goesTo(now):
			broken[f.payment] = fmt.Sprintf("request %d names another bank account", f.arrival)
		}
	}
	for n, p := range r.orders.list {
		if what, ok := broken[n]; ok && len(b.debits[n]) < 2 {
			found = append(found, Finding{p, describe(p) + ": " + what, r.timeline(n, b.debits[n], log)})
		}
	}
	return found
}

// goesTo returns false if a request names a bank account that is not the payment's.
func (p Payment) goesTo(now sent) bool {
	account, named := now.body["destination_account_info"].(map[string]any)
	return p.Destination == nil || !named || account["bsb"] == p.Destination.BSB && account["account_number"] == p.Destination.AccountNumber
}
