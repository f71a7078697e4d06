package page

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest"
)

type webhooksData struct {
	Hooks      []prepaidtest.HookState
	Deliveries []prepaidtest.Delivery
	Pager      pager
}

func (p *Page) webhooks(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	data := webhooksData{Hooks: server.Hooks()}
	for i := range data.Hooks {
		data.Hooks[i].URI = plain(data.Hooks[i].URI)
	}
	deliveries := server.Deliveries()
	slices.Reverse(deliveries)
	data.Deliveries, data.Pager = paginate(r, deliveries, listSize)
	p.show(w, r, http.StatusOK, "webhooks", layout{Title: "Webhooks", Section: "webhooks", Data: data})
}

type webhookData struct {
	Hook       prepaidtest.HookState
	Deliveries []prepaidtest.Delivery
}

func (p *Page) webhook(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	hooks := server.Hooks()
	i := slices.IndexFunc(hooks, func(hook prepaidtest.HookState) bool { return hook.ID == r.PathValue("id") })
	if i < 0 {
		p.problem(w, r, http.StatusNotFound, "There is no such webhook.")
		return
	}
	data := webhookData{Hook: hooks[i]}
	data.Hook.URI = plain(data.Hook.URI)
	for j, message := range data.Hook.Undeliverable {
		data.Hook.Undeliverable[j].Body = readable(message.Body)
	}
	slices.Reverse(data.Hook.Undeliverable)
	for _, delivery := range slices.Backward(server.Deliveries()) {
		if delivery.HookID == data.Hook.ID && len(data.Deliveries) < listSize {
			data.Deliveries = append(data.Deliveries, delivery)
		}
	}
	p.show(w, r, http.StatusOK, "webhook", layout{Title: "Webhook " + short(data.Hook.ID), Section: "webhooks", Data: data})
}

// plain is an address without query and user, which may hold a secret.
func plain(uri string) string {
	parsed, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	parsed.User, parsed.Fragment = nil, ""
	if parsed.RawQuery != "" {
		parsed.RawQuery = "…"
	}
	return parsed.String()
}
