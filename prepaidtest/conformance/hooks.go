package conformance

import "reflect"

func hookCases() []Case {
	const create, undelivered = "Hooks.Create", "Hooks.Undeliverable"
	refused := func(code string, changes values) Case {
		return with("4.8", code, create, nil, func(p *probe) {
			r := p.call(create, changes)
			if r.Status == 201 { // created instead of refused
				p.call("Hooks.Delete", values{"id": r.object()["id"]})
			}
			r.refused(code, 400)
		}, "ChangeHooks")
	}
	return []Case{
		with("4.8", "hook", create, nil, hookLife, "ChangeHooks"),
		with("2.14", "undeliverable_messages", undelivered, nil, func(p *probe) {
			for _, hook := range p.call("Hooks.List", nil).objects() {
				if hook["last_undeliverable"] != nil {
					p.pages(undelivered, values{"id": hook["id"]})
					return
				}
			}
			p.skipped = "no hook has undeliverable messages"
		}),
		refused("invalid_uri", values{"uri": "http://"}),
		refused("invalid_scope", values{"scope": "none"}),
		refused("invalid_filter_spec", values{"filter_spec": 7}),
		refused("invalid_enabled", values{"enabled": "maybe"}),
		refused("invalid_reliability_mode", values{"reliability_mode": "sometimes"}),
		refused("invalid_hmac_key_id", values{"hmac_key_id": "a;b"}),
		refused("invalid_hmac_key_secret", values{"hmac_key_secret": "0a"}),
		refused("no_response", values{"uri": "https://conformance.invalid/", "enabled": true}),
		with("4.8", "invalid_request", create, values{"uri": "", "scope": ""}, func(p *probe) {
			r := newRequest(&p.target, create, nil)
			r.body = "{"
			p.send(r, p.bearer()).refused("invalid_request", 400)
		}),
	}
}

// hookLife creates a hook, changes it and deletes it.
func hookLife(p *probe) {
	id := p.call("Hooks.Create", nil).object()["id"]
	defer func() { p.call("Hooks.Delete", values{"id": id}).ok() }()
	hook := p.call("Hooks.Get", values{"id": id}).object()
	if enabled, _ := hook["enabled"].(bool); enabled || hook["uri"] != p.target.HookReceiver {
		p.fail("body", "must be what was created")
	}
	hook["reliability_mode"] = "store_undeliverable"
	p.call("Hooks.Update", values{"id": id, "reliability_mode": "store_undeliverable"}).ok()
	if !reflect.DeepEqual(p.call("Hooks.Get", values{"id": id}).object(), hook) {
		p.fail("reliability_mode", "must change, and nothing else")
	}
	p.call("Hooks.Update", values{"id": id, "uri": "http://"}).refused("invalid_uri", 400)
	p.call("Hooks.Undeliverable", values{"id": id}).is(204)
	p.call("Hooks.Dismiss", values{"id": id, "message_ids": []string{unknownUUID}}).refused("invalid_message_id", 400)
}
