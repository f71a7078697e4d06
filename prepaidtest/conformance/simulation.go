package conformance

import (
	"maps"
	"slices"
)

// step is a simulated action, and the type codes that it must add to the history, sorted.
type step struct {
	operation string
	codes     []string
}

func simulationCases() []Case {
	const transact = "Simulation.Transact"
	advise, reverse := step{"Simulation.Advise", []string{"1118", "1120"}}, step{"Simulation.Reverse", []string{"1120"}}
	clearing, undo := step{"Simulation.Clear", []string{"1115", "1117"}}, step{"Simulation.ReverseClear", []string{"1125"}}
	purchase := func(name string, steps ...step) Case {
		steps = append([]step{{transact, []string{"1118"}}}, steps...)
		return with("4.6", name, steps[1].operation, nil, func(p *probe) { p.simulate(steps) }, "Simulate")
	}
	return []Case{
		purchase("purchase_and_advice", advise, reverse), purchase("purchase_and_reverse", reverse),
		purchase("purchase_and_clear", clearing, undo),
		with("4.6", "unknown_account_is_no_success", transact, values{"account_id": noAccount}, func(p *probe) {
			r := p.call(transact, values{"account_id": noAccount, "amount": 1})
			if r.Status != 200 {
				r.refused("", 400, 404)
			} else if success, _ := r.object()["success"].(bool); success {
				p.fail("success", "must be false for an invalid account")
			}
		}, "Simulate"),
	}
}

func (p *probe) simulate(steps []step) {
	seen := make(map[any]bool)
	fresh := func() (codes []string) {
		for _, item := range p.history() {
			if code, _ := item["type"].(string); !seen[item["id"]] {
				codes = append(codes, code)
			}
			seen[item["id"]] = true
		}
		return slices.Sorted(slices.Values(codes))
	}
	fresh()
	changes := values{"amount": 1}
	for _, s := range steps {
		got := p.call(s.operation, changes).object()
		if success, _ := got["success"].(bool); !success {
			p.stop("success", s.operation+" must be true")
		}
		maps.Copy(changes, got) // for authorization_id
		p.sleep(p.target.SimulatorWait)
		if !slices.Equal(fresh(), s.codes) {
			p.stop("type", s.operation+" must add the type codes of the reference to the history")
		}
	}
}
