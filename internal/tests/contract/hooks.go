package contract

import (
	"context"
	"time"

	"github.com/cardprograms/prepaid"
)

const fixtureHookID prepaid.HookID = "7d8f2b1a-3c4d-4e5f-8a9b-0c1d2e3f4a5b"

func fixtureHook(edit func(*prepaid.Hook)) *prepaid.Hook {
	hook := &prepaid.Hook{
		ID: fixtureHookID, URI: "https://hooks.example.com/prepaid?tenant=7", Scope: []prepaid.CompanyID{4217, 4218},
		FilterSpec: prepaid.FilterAll, Enabled: true, ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable,
		LastUndeliverable: "msg-3001", LastUndeliverableAt: fixtureTime(2026, time.November, 19, 20, 21, 22), HMACKeyID: "key-2026/11",
	}
	edit(hook)
	return hook
}

func hookFixtures() []Case {
	page := func(paging prepaid.Paging) fixtureCall[*prepaid.Page[prepaid.Hook]] {
		return fixtureOf("Hooks.List", func(ctx context.Context, client *prepaid.Client) (*prepaid.Page[prepaid.Hook], error) {
			return fixturePage(client.Hooks.ListPage(ctx, paging))
		})
	}
	all := fixtureOf("Hooks.List", func(ctx context.Context, client *prepaid.Client) ([]*prepaid.Hook, error) {
		return prepaid.Collect(client.Hooks.List(ctx, prepaid.Paging{}), 10)
	})
	get := fixtureWith[*prepaid.Hook]("Hooks.Get", fixtureHookID)
	whole := fixtureHook(func(*prepaid.Hook) {})
	quiet := fixtureHook(func(h *prepaid.Hook) {
		h.ID, h.Scope, h.FilterSpec = "8e9f3c2b-4d5e-4f60-9bac-1d2e3f4a5b6c", []prepaid.CompanyID{4217}, "type = 1118"
		h.Enabled, h.ReliabilityMode = false, prepaid.ReliabilityModeNone
		h.LastUndeliverable, h.LastUndeliverableAt = "", time.Time{}
	})
	second := page(prepaid.Paging{Page: 2, Size: 10})
	return concat(second.usual(prepaid.CodeUnauthorized, prepaid.OutcomeNotProcessed), get.usual(prepaid.CodeUnauthorized, prepaid.OutcomeNotProcessed),
		[]Case{
			second.gives("200", &prepaid.Page[prepaid.Hook]{Items: []prepaid.Hook{*whole, *quiet}, Number: 2, Size: 10, TotalPages: 2, TotalItems: 12}),
			all.gives("200-single-page", []*prepaid.Hook{quiet}),
			page(prepaid.Paging{}).gives("204", &prepaid.Page[prepaid.Hook]{Number: 1}),
			second.throttled(),
			get.gives("200", whole),
			get.gives("200-unknown-values", fixtureHook(func(h *prepaid.Hook) { h.ReliabilityMode = "mirror" })),
		})
}
