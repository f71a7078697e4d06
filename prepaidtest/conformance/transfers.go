package conformance

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/url"
)

func cent() json.Number { return "0.01" }

func transferCases() []Case {
	const card, bank = "POST /accounts/{id}/transfer", "POST /accounts/{id}/directentryout"
	transfer := func(p *probe, destination, id string, amount any) map[string]any {
		return map[string]any{
			"request_id": id, "amount": amount, "source_reference": "conformance " + id, "destination_reference": "conformance " + id,
			"destination_account_id": destination, "transaction_type": 1,
		}
	}
	payout := func(p *probe, id string, amount any) map[string]any {
		return map[string]any{
			"request_id": id, "amount": amount, "source_reference": "conformance " + id, "destination_reference": "conformance " + id, "bsb": p.target.PayOutBSB,
			"destination_account_info": map[string]any{"bsb": p.target.PayOutBSB, "account_number": p.target.PayOutNumber, "account_name": p.target.PayOutName},
		}
	}
	return []Case{
		with("8", "request_id_is_answered_from_the_cache", card, func(p *probe) {
			id := "conf-" + rand.Text()
			p.twice(p.accountPath("/transfer"), id, transfer(p, p.target.SecondAccountID, id, cent()))
			back := "conf-" + rand.Text()
			p.post("accounts/"+url.PathEscape(p.target.SecondAccountID)+"/transfer", transfer(p, p.target.AccountID, back, cent())).
				status(200).read(movementShape())
		}, "AccountID", "SecondAccountID", "MoveMoney"),
		with("8", "request_id_of_direct_entry_is_answered_from_the_cache", bank, func(p *probe) {
			id := "conf-" + rand.Text()
			p.twice(p.accountPath("/directentryout"), id, payout(p, id, cent()))
		}, "AccountID", "PayOutBSB", "PayOutNumber", "PayOutName", "PayOut"),
		with("4.4", "transfer_amount_must_be_positive", card, func(p *probe) {
			p.post(p.accountPath("/transfer"), transfer(p, p.target.SecondAccountID, "conf-"+rand.Text(), 0)).refused(400)
		}, "AccountID", "SecondAccountID", "MoveMoney"),
		with("4.4", "direct_entry_amount_must_be_positive", bank, func(p *probe) {
			p.post(p.accountPath("/directentryout"), payout(p, "conf-"+rand.Text(), 0)).refused(400)
		}, "AccountID", "PayOutBSB", "PayOutNumber", "PayOutName", "PayOut"),
	}
}

// twice sends the same transfer twice, and expects the same response and one movement.
func (p *probe) twice(path, id string, body map[string]any) {
	before := len(p.history())
	one := p.post(path, body).status(200)
	one.read(movementShape())
	if one.bad {
		return
	}
	two := p.post(path, body).status(200)
	two.read(movementShape())
	if !two.bad && !bytes.Equal(one.body, two.body) {
		p.fail("request_id", "the second response must be the first")
	}
	if len(p.history()) != before+1 {
		p.fail("request_id", "both requests must make one movement")
	}
}
