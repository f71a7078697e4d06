package conformance

import (
	"maps"
	"slices"
)

func simulationCases() []Case {
	base := func(account string) map[string]any {
		return map[string]any{
			"transaction_type": "Purchase", "account_id": account, "amount": 1, "acquirer_id": "999999",
			"merchant_id": "CONFORMANCE", "terminal_id": "CONF01", "mcc": "5411",
		}
	}
	// chain makes a case: a purchase, then the steps. Each step must add its codes to the history.
	chain := func(name, operation string, steps ...step) Case {
		return with("4.6", name, operation, func(p *probe) {
			p.simulate(base(p.target.AccountID), append([]step{{"transact", []string{"1118"}}}, steps...))
		}, "AccountID", "Simulate")
	}
	return []Case{
		chain("purchase_and_advice", "POST /simulation/advice", step{"advice", []string{"1118", "1120"}},
			step{"reverse", []string{"1120"}}),
		chain("purchase_and_reverse", "POST /simulation/reverse", step{"reverse", []string{"1120"}}),
		chain("purchase_and_clear", "POST /simulation/clear", step{"clear", []string{"1115", "1117"}},
			step{"reverse_clear", []string{"1125"}}),
		chain("purchase_clear_and_reverse_clear", "POST /simulation/reverse_clear", step{"clear", []string{"1115", "1117"}},
			step{"reverse_clear", []string{"1125"}}),
		with("4.6", "unknown_account_is_no_success", "POST /simulation/transact", func(p *probe) {
			a := p.post("simulation/transact", base(noAccount))
			if a.code != 200 {
				a.refusedAs([]int{400, 404})
			} else if success, _ := a.object(openObject("2.15", req(boolean, "success"), req(text, "message")))["success"].(bool); success {
				p.fail("success", "must be false for an invalid account")
			}
		}, "Simulate"),
	}
}

type step struct {
	operation string
	codes     []string // type codes, sorted
}

func (p *probe) simulate(body map[string]any, steps []step) {
	seen := make(map[any]bool)
	for _, item := range p.history() {
		seen[item["id"]] = true
	}
	for _, s := range steps {
		fields := map[string][]string{
			"transact": {"transaction_reference", "authorization_id"}, "advice": {"authorization_id"}, "reverse": {"authorization_id"},
		}[s.operation]
		got := p.post("simulation/"+s.operation, body).status(200).object(simulatedShape(fields...))
		if success, _ := got["success"].(bool); !success {
			p.fail("success", s.operation+" must be true")
			return
		}
		if id, ok := got["authorization_id"]; ok {
			body = maps.Clone(body)
			body["authorization_id"] = id
		}
		p.sleep(p.target.SimulatorWait)
		var codes []string
		for _, item := range p.history() {
			if code, ok := item["type"].(string); ok && !seen[item["id"]] {
				codes = append(codes, code)
				seen[item["id"]] = true
			}
		}
		slices.Sort(codes)
		if !slices.Equal(codes, s.codes) {
			p.fail("type", s.operation+" must add the type codes of the reference to the history")
			return
		}
	}
}
