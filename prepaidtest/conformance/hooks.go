package conformance

import "reflect"

func hookCases() []Case {
	const create, get, update, undelivered, dismiss = "Hooks.Create", "Hooks.Get", "Hooks.Update", "Hooks.Undeliverable", "Hooks.Dismiss"
	refused := func(code string, changes values) Case {
		return with("4.8", code, create, nil, func(p *probe) {
			r := p.call(create, changes)
			if r.Status == 201 { // created instead of refused
				p.call("Hooks.Delete", values{"id": r.object()["id"]}).ok()
			}
			r.refused(code, 400)
		}, "ChangeHooks")
	}
	// onHook makes a case with a hook, which is deleted.
	onHook := func(name string, check func(p *probe, id any)) Case {
		return with("4.8", name, create, nil, func(p *probe) {
			id := p.call(create, nil).object()["id"]
			defer func() { p.call("Hooks.Delete", values{"id": id}).ok() }()
			check(p, id)
		}, "ChangeHooks")
	}
	return []Case{
		onHook("create_read_delete", func(p *probe, id any) {
			if got := p.call(get, values{"id": id}).object(); got["uri"] != p.target.HookReceiver || got["enabled"] != false {
				p.fail("body", "must be what was created")
			}
		}),
		onHook("patch_keeps_the_rest", func(p *probe, id any) {
			want := p.call(get, values{"id": id}).object()
			want["reliability_mode"] = "store_undeliverable"
			p.call(update, values{"id": id, "reliability_mode": want["reliability_mode"]}).ok()
			if !reflect.DeepEqual(p.call(get, values{"id": id}).object(), want) {
				p.fail("reliability_mode", "must change, and nothing else")
			}
		}),
		onHook("patch_is_checked", func(p *probe, id any) {
			p.call(update, values{"id": id, "uri": "http://"}).refused("invalid_uri", 400)
		}),
		onHook("no_undeliverable_messages", func(p *probe, id any) { p.call(undelivered, values{"id": id}).is(204) }),
		onHook("dismiss_of_an_unknown_message", func(p *probe, id any) {
			p.call(dismiss, values{"id": id, "message_ids": []string{unknownUUID}}).refused("invalid_message_id", 400)
		}),
		with("2.14", "undeliverable_messages", undelivered, nil, func(p *probe) {
			p.skipped = "no hook has undeliverable messages"
			for _, hook := range p.call("Hooks.List", nil).objects() {
				if hook["last_undeliverable"] != nil {
					p.pages(undelivered, values{"id": hook["id"]})
					p.skipped = ""
				}
			}
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
