package contract

import (
	"context"
	"strings"

	"github.com/cardprograms/prepaid"
)

func hookChangeFixtures() []Case {
	create := func(enabled bool, mode prepaid.ReliabilityMode) fixtureCall[prepaid.HookID] {
		return fixtureOf("Hooks.Create", func(ctx context.Context, client *prepaid.Client) (prepaid.HookID, error) {
			return client.Hooks.Create(ctx, prepaid.CreateHookParams{
				URI: "https://hooks.example.com/prepaid?tenant=7", Scope: []prepaid.CompanyID{4217, 4218}, FilterSpec: prepaid.FilterAll,
				Enabled: enabled, ReliabilityMode: mode, HMACKeyID: "key-2026/11", HMACKeySecret: prepaid.NewSecret(strings.Repeat("c0ffee00", 8)),
			})
		})
	}
	update := func(params prepaid.UpdateHookParams) fixtureCall[struct{}] {
		return fixtureWith[struct{}]("Hooks.Update", fixtureHookID, params)
	}
	remove := fixtureWith[struct{}]("Hooks.Delete", fixtureHookID)
	enabled := create(true, prepaid.ReliabilityModeStoreUndeliverable)
	every := update(prepaid.UpdateHookParams{
		URI: "https://hooks.example.com/prepaid?tenant=7", Scope: []prepaid.CompanyID{4217, 4218}, FilterSpec: prepaid.FilterAll,
		Enabled: new(true), ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "key-2026/11",
		HMACKeySecret: prepaid.NewSecret(strings.Repeat("c0ffee00", 8)),
	})
	return concat(
		hookErrors(enabled), enabled.usual(prepaid.CodeUnauthorized, prepaid.OutcomeUnknown),
		hookErrors(every), every.usual(prepaid.CodeUnauthorized, prepaid.OutcomeUnknown),
		remove.usual(prepaid.CodeUnauthorized, prepaid.OutcomeUnknown),
		[]Case{
			enabled.gives("201", fixtureHookID),
			create(false, prepaid.ReliabilityModeNone).gives("201-disabled", fixtureHookID),
			enabled.throttled(),
			every.gives("200", struct{}{}),
			update(prepaid.UpdateHookParams{Enabled: new(false)}).gives("200-disabled", struct{}{}),
			every.throttled(),
			remove.gives("204", struct{}{}),
		},
	)
}

// hookErrors returns a case for each of the nine error codes of registration and update.
func hookErrors[T any](call fixtureCall[T]) []Case {
	var cases []Case
	for _, code := range []prepaid.ErrorCode{
		prepaid.CodeInvalidRequest, prepaid.CodeInvalidURI, prepaid.CodeInvalidScope, prepaid.CodeInvalidFilterSpec, prepaid.CodeInvalidEnabled,
		prepaid.CodeInvalidReliabilityMode, prepaid.CodeInvalidHMACKeyID, prepaid.CodeInvalidHMACKeySecret, prepaid.CodeNoResponse,
	} {
		cases = append(cases, call.refused("400-"+string(code), code, prepaid.ErrBadRequest, prepaid.OutcomeRejected))
	}
	return cases
}
