package conformance

import (
	"crypto/rand"
	"encoding/json"
)

func fundingCases() []Case {
	redeem := func(p *probe, account string) (map[string]any, any) {
		body := map[string]any{
			"amount": json.Number("0.02"), "account_id": account, "funding_exception": "no_exception",
			"merchant_name_location": "conformance", "originating_transaction": 1, "clearing_adjustment": false, "currency": "036",
			"card_acceptor_id": "CONFORMANCE", "correlation_id": "conf-" + rand.Text(), "merchant_category": "5411",
			"terminal_id": "CONF01", "acquirer_id": "999999",
		}
		return body, p.outcome("funding/redemptions", body)
	}
	return []Case{
		with("4.5", "redemption_and_reversal", "POST /funding/reversals", func(p *probe) {
			made, id := redeem(p, p.target.AccountID)
			if id == nil {
				p.fail("outcome", "the redemption must be approved")
				return
			}
			if p.outcome("funding/reversals", map[string]any{
				"account_id": p.target.AccountID, "originating_transaction": 1, "correlation_id": made["correlation_id"],
				"parent_transaction_id": id, "clearing_adjustment": false,
			}) == nil {
				p.fail("outcome", "the reversal must be approved")
			}
		}, "AccountID", "Funding"),
		with("4.5", "redemption_and_refund", "POST /funding/refunds", func(p *probe) {
			made, id := redeem(p, p.target.AccountID)
			if id == nil {
				p.fail("outcome", "the redemption must be approved")
				return
			}
			delete(made, "funding_exception")
			delete(made, "clearing_adjustment")
			made["amount"], made["parent_transaction_id"] = cent(), id
			if p.outcome("funding/refunds", made) == nil {
				p.fail("outcome", "the refund must be approved")
			}
		}, "AccountID", "Funding"),
		with("4.5", "redemption_of_unknown_account_is_declined", "POST /funding/redemptions", func(p *probe) {
			if _, id := redeem(p, noAccount); id != nil {
				p.fail("outcome", "must be declined")
			}
		}, "Funding"),
	}
}

// outcome posts body, and returns the transaction_id of the response, or nil after a decline.
func (p *probe) outcome(path string, body any) any {
	got := p.post(path, body).status(200).object(fundingShape())
	id, present := got["transaction_id"]
	switch got["outcome"] {
	case "approved":
		if !present {
			p.failIn("2.12", "transaction_id", "must be present when approved")
		}
	case "declined":
		if present {
			p.failIn("2.12", "transaction_id", "must be present only when approved")
		}
		return nil
	}
	return id
}
