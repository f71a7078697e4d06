package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// hooks are the webhooks, with addresses that show no secret.
func (p *Page) hooks() []prepaidtest.HookState {
	list := p.server.Hooks()
	for i := range list {
		list[i].URI = plain(list[i].URI)
	}
	return list
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

// messageRow is a message in a list, with a link to its content.
type messageRow struct {
	prepaidtest.Delivery
	Message []cell
}

func messageOf(d prepaidtest.Delivery) messageRow {
	return messageRow{d, linked(string(d.MessageID), "/webhooks/message?id="+url.QueryEscape(string(d.MessageID)))}
}

func deliveries(r *http.Request, list []prepaidtest.Delivery) block {
	list, pages := paginate(r, "page", reversed(list))
	b := block{Head: "Deliveries", Empty: "Nothing was sent yet.", Table: tableOf(each(list, messageOf),
		"Message", "Type", "Status:Response", "Problem", "Attempt", "Delivered", "Time:Time, UTC", "HookID:Webhook")}
	b.Table.Pager = pages
	return b
}

// undeliverable are the messages that failed and were not dismissed, newest first.
func (p *Page) undeliverable() []prepaidtest.Delivery {
	var list []prepaidtest.Delivery
	for _, hook := range p.server.Hooks() {
		for _, m := range hook.Undeliverable {
			list = append(list, prepaidtest.Delivery{HookID: hook.ID, MessageID: m.ID, Type: m.Type, Body: m.Body})
		}
	}
	return reversed(list)
}

func (p *Page) webhooks(r *http.Request) view {
	hooks := p.hooks()
	choices := append([]option{{"", "any webhook"}}, each(hooks, func(h prepaidtest.HookState) option { return option{string(h.ID), h.URI} })...)
	armed := block{Head: "Armed faults", Table: tableOf(p.server.DeliveryFaults(), "Fault", "HookID:Webhook", "Used", "Left"), Empty: "No delivery faults armed."}
	if len(armed.Table.Rows) > 0 {
		armed.Forms = []form{{ID: "clear", Action: "/webhooks/faults/clear", Buttons: []button{{Text: "Clear all"}}}}
	}
	messages, pages := paginate(r, "messages", p.undeliverable())
	undeliverable := block{Head: "Undeliverable", Table: tableOf(each(messages, messageOf), "Message", "Type", "HookID:Webhook"), Empty: "None."}
	undeliverable.Table.Pager = pages
	return view{
		Title: "Webhooks", Section: "/webhooks",
		Blocks: []block{
			{
				Head: "Registered", Empty: "No webhook yet. Register one with POST /hooks.",
				Table: tableOf(hooks, "URI:Address", "ID", "Scope", "Filter", "Enabled", "Reliability", "KeyID:Key", "Queued"),
			},
			deliveries(r, p.server.Deliveries()), undeliverable, forms(prepaidtest.DeliveryFaultForms()),
		},
		Side: []block{armed, {Head: "Arm a fault", Forms: []form{{
			ID: "arm", Action: "/webhooks/faults", Buttons: []button{{Text: "Arm"}}, Fields: []field{
				{Name: "hook", Label: "The next delivery to", Options: choices},
				{Name: "fault", Label: "Fault", Required: true, Placeholder: "lose-response", Suggestions: []string{
					"lose-message", "lose-response", "duplicate-message 1", "delay-message 5s", "lose-response always", "lose-response pings",
				}},
			},
		}}}},
	}
}

// message shows the newest message that has the ID of the query.
func (p *Page) message(r *http.Request) view {
	id := r.URL.Query().Get("id")
	other := func(d prepaidtest.Delivery) bool { return string(d.MessageID) != id }
	sent := slices.DeleteFunc(p.server.Deliveries(), other)
	found := append(slices.DeleteFunc(p.undeliverable(), other), sent...)
	if len(found) == 0 {
		return view{}
	}
	return view{Title: "Message " + id, Section: "/webhooks", Blocks: []block{
		{Head: "Content", Codes: []code{{"message-text", "Message", readable(found[len(found)-1].Body)}}}, deliveries(r, sent),
	}}
}
