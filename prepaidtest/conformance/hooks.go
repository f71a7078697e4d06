package conformance

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
)

func (p *probe) hookBody() map[string]any {
	return map[string]any{
		"uri": p.target.HookReceiver, "scope": []int64{p.target.CompanyID}, "filter_spec": "*", "enabled": false,
		"reliability_mode": "none", "hmac_key_id": "conformance", "hmac_key_secret": strings.Repeat("0a", 32),
	}
}

func hookCases() []Case {
	const list, create, undelivered = "GET /hooks", "POST /hooks", "GET /hooks/{id}/undeliverable"
	const dismiss = "POST /hooks/{id}/undeliverable/dismiss"
	refused := func(name, code, member string, value any) Case {
		return with("4.8", name, create, func(p *probe) {
			body := p.hookBody()
			body[member] = value
			a := p.post("hooks", body)
			p.forget(a)
			a.refused(400, code)
		}, "CompanyID", "HookReceiver", "ChangeHooks")
	}
	onHook := func(name, operation string, check func(p *probe, path string)) Case {
		return with("4.8", name, operation, func(p *probe) {
			a := p.post("hooks", p.hookBody()).status(201)
			id, _ := a.object(object("4.8", req(uuid(), "id")))["id"].(string)
			if id == "" {
				return
			}
			check(p, "hooks/"+url.PathEscape(id))
			p.do(http.MethodDelete, "hooks/"+url.PathEscape(id), nil).status(204).empty()
		}, "CompanyID", "HookReceiver", "ChangeHooks")
	}
	return []Case{
		with("2.13", "hooks", list, func(p *probe) { p.paging("hooks?", hookShape()) }),
		with("2.14", "undeliverable_messages", undelivered, func(p *probe) {
			if a := p.get("hooks").status(200, 204); a.code == 200 {
				for _, hook := range a.objects(hookShape()) {
					if id, ok := hook["id"].(string); ok && hook["last_undeliverable"] != nil {
						p.paging("hooks/"+id+"/undeliverable?", messageShape())
						return
					}
				}
			}
			p.skipped = "no hook has undeliverable messages"
		}),
		onHook("create_read_delete", create, func(p *probe, path string) {
			got := p.get(path).status(200).object(hookShape())
			if enabled, ok := got["enabled"].(bool); got != nil && (got["uri"] != p.target.HookReceiver || !ok || enabled) {
				p.fail("body", "must be what was created")
			}
		}),
		onHook("patch_keeps_the_rest", "PATCH /hooks/{id}", func(p *probe, path string) {
			before := p.get(path).status(200).object(hookShape())
			p.do(http.MethodPatch, path, map[string]any{"reliability_mode": "store_undeliverable"}).status(200).empty()
			after := maps.Clone(p.get(path).status(200).object(hookShape()))
			if before != nil && after != nil && (after["reliability_mode"] != "store_undeliverable" || after["uri"] != before["uri"]) {
				p.fail("reliability_mode", "must change, and nothing else")
			}
		}),
		onHook("patch_is_checked", "PATCH /hooks/{id}", func(p *probe, path string) {
			p.do(http.MethodPatch, path, map[string]any{"uri": "http://"}).refused(400, "invalid_uri")
		}),
		onHook("get_one", "GET /hooks/{id}", func(p *probe, path string) { p.get(path).status(200).read(hookShape()) }),
		onHook("delete", "DELETE /hooks/{id}", func(*probe, string) {}),
		onHook("no_undeliverable_messages", undelivered, func(p *probe, path string) {
			p.get(path + "/undeliverable").status(204).empty()
		}),
		onHook("dismiss_of_an_unknown_message", dismiss, func(p *probe, path string) {
			p.post(path+"/undeliverable/dismiss", map[string]any{"message_ids": []string{unknownUUID}}).refused(400, "invalid_message_id")
		}),
		with("4.8", "undeliverable_of_an_unknown_hook", undelivered, func(p *probe) {
			p.get("hooks/"+unknownUUID+"/undeliverable").refused(400, "invalid_hook_id")
		}),
		with("4.8", "dismiss_without_ids", dismiss, func(p *probe) {
			p.post("hooks/"+unknownUUID+"/undeliverable/dismiss", map[string]any{"message_ids": []string{}}).
				refused(400, "invalid_request", "invalid_message_id", "invalid_hook_id")
		}),
		refused("invalid_uri", "invalid_uri", "uri", "http://"),
		refused("invalid_scope", "invalid_scope", "scope", "none"),
		refused("invalid_filter_spec", "invalid_filter_spec", "filter_spec", 7),
		refused("invalid_enabled", "invalid_enabled", "enabled", "maybe"),
		refused("invalid_reliability_mode", "invalid_reliability_mode", "reliability_mode", "sometimes"),
		refused("invalid_hmac_key_id", "invalid_hmac_key_id", "hmac_key_id", "a;b"),
		refused("invalid_hmac_key_secret", "invalid_hmac_key_secret", "hmac_key_secret", "0a"),
		with("4.8", "invalid_request", create, func(p *probe) {
			if p.token != "" || p.authorise() {
				p.patiently(http.MethodPost, "hooks", "{", p.bearer(p.token, true)).refused(400, "invalid_request")
			}
		}),
		with("4.8", "no_response", create, func(p *probe) {
			body := p.hookBody()
			body["uri"], body["enabled"] = "https://conformance.invalid/", true
			a := p.post("hooks", body)
			p.forget(a)
			a.refused(400, "no_response")
		}, "CompanyID", "HookReceiver", "ChangeHooks"),
	}
}

// forget deletes the hook that the service created instead of refusing the request.
func (p *probe) forget(a *response) {
	if a.bad || a.code != http.StatusCreated {
		return
	}
	if id, ok := a.object(openObject("4.8"))["id"].(string); ok {
		p.do(http.MethodDelete, "hooks/"+url.PathEscape(id), nil)
	}
}
