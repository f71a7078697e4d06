package page

import (
	"net/http"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// hookFaults is the data of the form for faults of deliveries.
type hookFaults struct {
	Armed       []prepaidtest.ArmedDeliveryFault
	Hooks       []prepaidtest.HookState
	Forms       [][2]string // syntax and effect
	Suggestions []string
	Hook, Fault string // as they were entered
}

func (p *Page) hookFaults(hooks []prepaidtest.HookState, hook, fault string) hookFaults {
	return hookFaults{
		Armed: p.server.Load().DeliveryFaults(), Hooks: hooks, Forms: splitForms(prepaidtest.DeliveryFaultForms()), Hook: hook, Fault: fault,
		Suggestions: []string{"lose-message", "lose-response", "duplicate-message 1", "delay-message 5s", "lose-response always", "lose-response pings"},
	}
}

func (p *Page) armHook(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	hook, entered := r.PostFormValue("hook"), strings.TrimSpace(r.PostFormValue("fault"))
	fault, err := prepaidtest.ParseDeliveryFault(entered)
	switch {
	case hook != "" && !slices.ContainsFunc(server.Hooks(), func(h prepaidtest.HookState) bool { return string(h.ID) == hook }):
		p.showWebhooks(w, r, http.StatusUnprocessableEntity, "", entered, "Choose a webhook.")
		return
	case err != nil:
		p.showWebhooks(w, r, http.StatusUnprocessableEntity, hook, entered, unreadable(err, prepaidtest.DeliveryFaultForms()))
		return
	}
	server.InjectDelivery(prepaid.HookID(hook), fault)
	done(w, r, "/webhooks", "armed", faultsOf(server))
}

func (p *Page) clearHookFaults(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	server.ClearDeliveryFaults()
	done(w, r, "/webhooks", "cleared", faultsOf(server))
}
