package conformance

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
)

func moneyCases() []Case {
	const card, bank, redeem = "Accounts.Transfer", "Accounts.DirectEntryOut", "Funding.Redeem"
	return []Case{
		with("8", "request_id_is_answered_from_the_cache", card, nil, func(p *probe) {
			p.twice(card)
			p.call(card, values{"id": p.target.SecondAccountID, "destination_account_id": p.target.AccountID}).ok()
		}, "MoveMoney"),
		with("8", "request_id_of_direct_entry_is_answered_from_the_cache", bank, nil, func(p *probe) { p.twice(bank) }, "PayOut"),
		with("4.5", "redemptions_reversed_and_refunded", redeem, nil, func(p *probe) {
			for _, then := range []string{"Funding.Reverse", "Funding.Refund"} {
				id := "conf-" + rand.Text()
				made := p.outcome(redeem, values{"amount": json.Number("0.02"), "correlation_id": id}, "approved")
				p.outcome(then, values{"correlation_id": id, "parent_transaction_id": made}, "approved")
			}
		}, "Funding"),
		with("4.5", "redemption_of_unknown_account_is_declined", redeem, values{"account_id": noAccount}, func(p *probe) {
			p.outcome(redeem, values{"account_id": noAccount}, "declined")
		}, "Funding"),
	}
}

// twice sends the same transfer twice, and expects the same response and one movement.
func (p *probe) twice(operation string) {
	before := len(p.history())
	transfer := values{"request_id": "conf-" + rand.Text()}
	one := p.call(operation, transfer)
	if _, ok := one.object()["transaction_id"].(json.Number); !ok {
		p.stop("transaction_id", "must be an integer after a success")
	}
	if two := p.call(operation, transfer).ok(); !bytes.Equal(one.Body, two.Body) {
		p.fail("request_id", "the second response must be the first")
	}
	if len(p.history()) != before+1 {
		p.fail("request_id", "both requests must make one movement")
	}
}

// outcome returns the transaction_id, which only an approval has.
func (p *probe) outcome(operation string, changes values, outcome string) any {
	got := p.call(operation, changes).object()
	id, present := got["transaction_id"]
	if approved := got["outcome"] == "approved"; approved != present {
		p.failIn("2.12", "transaction_id", "must be present if approved, and only then")
	}
	if got["outcome"] != outcome {
		p.stop("outcome", "must be "+outcome)
	}
	return id
}
