package prepaid

import (
	"context"
	"time"
)

const fixtureHookID = "7d8f2b1a-3c4d-4e5f-8a9b-0c1d2e3f4a5b"

func fixtureHook(edit func(*Hook)) *Hook {
	hook := &Hook{
		ID: fixtureHookID, URI: "https://hooks.example.com/prepaid?tenant=7", Scope: []CompanyID{4217, 4218},
		FilterSpec: FilterAll, Enabled: true, ReliabilityMode: ReliabilityModeStoreUndeliverable,
		LastUndeliverable: "msg-3001", LastUndeliverableAt: fixtureTime(2026, time.November, 19, 20, 21, 22), HMACKeyID: "key-2026/11",
	}
	edit(hook)
	return hook
}

func hookFixtures() []fixtureCase {
	page := func(paging Paging) fixtureCall[*Page[Hook]] {
		return fixtureOf("Hooks.List", func(ctx context.Context, client *Client) (*Page[Hook], error) {
			return fixturePage(client.Hooks.ListPage(ctx, ListHooksParams{Paging: paging}))
		})
	}
	all := fixtureOf("Hooks.List", func(ctx context.Context, client *Client) ([]*Hook, error) {
		return Collect(client.Hooks.List(ctx, ListHooksParams{}), 10)
	})
	get := fixtureOf("Hooks.Get", func(ctx context.Context, client *Client) (*Hook, error) {
		return client.Hooks.Get(ctx, fixtureHookID)
	})
	whole := fixtureHook(func(*Hook) {})
	quiet := fixtureHook(func(h *Hook) {
		h.ID, h.Scope, h.FilterSpec = "8e9f3c2b-4d5e-4f60-9bac-1d2e3f4a5b6c", []CompanyID{4217}, "type = 1118"
		h.Enabled, h.ReliabilityMode = false, ReliabilityModeNone
		h.LastUndeliverable, h.LastUndeliverableAt = "", time.Time{}
	})
	second := page(Paging{Page: 2, Size: 10})
	return concat(second.usual(CodeUnauthorized, OutcomeNotProcessed), get.usual(CodeUnauthorized, OutcomeNotProcessed),
		[]fixtureCase{
			second.gives("200", &Page[Hook]{Items: []Hook{*whole, *quiet}, Number: 2, Size: 10, TotalPages: 2, TotalItems: 12}),
			all.gives("200-single-page", []*Hook{quiet}),
			page(Paging{}).gives("204", &Page[Hook]{Number: 1}),
			second.throttled(),
			get.gives("200", whole),
			get.gives("200-unknown-values", fixtureHook(func(h *Hook) { h.ReliabilityMode = "mirror" })),
		})
}
