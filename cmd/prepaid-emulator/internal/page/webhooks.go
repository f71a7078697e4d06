package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

type webhooksData struct {
	Hooks      []prepaidtest.HookState
	Deliveries []prepaidtest.Delivery
	Pager      pager
	Faults     hookFaults
}

func (p *Page) webhooks(w http.ResponseWriter, r *http.Request) {
	p.showWebhooks(w, r, http.StatusOK, "", "", "")
}

func (p *Page) showWebhooks(w http.ResponseWriter, r *http.Request, status int, hook, fault, problem string) {
	server := p.server.Load()
	data := webhooksData{Hooks: server.Hooks()}
	for i := range data.Hooks {
		data.Hooks[i].URI = plain(data.Hooks[i].URI)
	}
	deliveries := server.Deliveries()
	slices.Reverse(deliveries)
	data.Deliveries, data.Pager = paginate(r, deliveries, listSize)
	data.Pager.Path = "/webhooks"
	data.Faults = p.hookFaults(data.Hooks, hook, fault)
	p.show(w, r, status, "webhooks", layout{Title: "Webhooks", Section: "webhooks", Data: data, Problem: problem})
}

type webhookData struct {
	Hook          prepaidtest.HookState
	Messages      pager
	Deliveries    []prepaidtest.Delivery
	DeliveryPager pager
}

func (p *Page) webhook(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	hooks := server.Hooks()
	i := slices.IndexFunc(hooks, func(hook prepaidtest.HookState) bool { return string(hook.ID) == r.PathValue("id") })
	if i < 0 {
		p.notFound(w, r, "There is no such webhook.")
		return
	}
	data := webhookData{Hook: hooks[i]}
	data.Hook.URI = plain(data.Hook.URI)
	slices.Reverse(data.Hook.Undeliverable)
	data.Hook.Undeliverable, data.Messages = paginateBy(r, "messages", data.Hook.Undeliverable, listSize)
	for j, message := range data.Hook.Undeliverable {
		data.Hook.Undeliverable[j].Body = readable(message.Body)
	}
	deliveries := slices.DeleteFunc(server.Deliveries(), func(delivery prepaidtest.Delivery) bool { return delivery.HookID != data.Hook.ID })
	slices.Reverse(deliveries)
	data.Deliveries, data.DeliveryPager = paginate(r, deliveries, listSize)
	p.show(w, r, http.StatusOK, "webhook", layout{Title: "Webhook " + short(data.Hook.ID), Section: "webhooks", Data: data})
}

// plain returns an address without query and user, which may hold a secret.
func plain(uri string) string {
	parsed, err := url.Parse(strings.Replace(uri, "//[REDACTED]@", "//", 1)) // the log's mask for the user is not valid in a URL
	if err != nil {
		return ""
	}
	parsed.User, parsed.Fragment = nil, ""
	if parsed.RawQuery != "" {
		parsed.RawQuery = "…"
	}
	return parsed.String()
}

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
