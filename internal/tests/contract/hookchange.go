package contract

import (
	"context"
	"strings"

	"github.com/cardprograms/prepaid"
)

func hookChangeFixtures() []Case {
	create := func(enabled bool, mode prepaid.ReliabilityMode) fixtureCall[*prepaid.CreatedHook] {
		return fixtureOf("Hooks.Create", func(ctx context.Context, client *prepaid.Client) (*prepaid.CreatedHook, error) {
			return client.Hooks.Create(ctx, prepaid.CreateHookParams{
				URI: "https://hooks.example.com/prepaid?tenant=7", Scope: []prepaid.CompanyID{4217, 4218}, FilterSpec: prepaid.FilterAll,
				Enabled: enabled, ReliabilityMode: mode, HMACKeyID: "key-2026/11", HMACKeySecret: prepaid.NewSecret(strings.Repeat("c0ffee00", 8)),
			})
		})
	}
	update := func(params prepaid.UpdateHookParams) fixtureCall[struct{}] {
		return fixtureDo("Hooks.Update", func(ctx context.Context, client *prepaid.Client) error {
			return client.Hooks.Update(ctx, fixtureHookID, params)
		})
	}
	remove := fixtureDo("Hooks.Delete", func(ctx context.Context, client *prepaid.Client) error {
		return client.Hooks.Delete(ctx, fixtureHookID)
	})
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
			enabled.gives("201", &prepaid.CreatedHook{ID: fixtureHookID}),
			create(false, prepaid.ReliabilityModeNone).gives("201-disabled", &prepaid.CreatedHook{ID: fixtureHookID}),
			enabled.throttled(),
			every.gives("200", struct{}{}),
			update(prepaid.UpdateHookParams{Enabled: new(false)}).gives("200-disabled", struct{}{}),
			every.throttled(),
			remove.gives("204", struct{}{}),
		},
	)
}

// hookErrors are the nine codes of registration and update.
func hookErrors[T any](call fixtureCall[T]) []Case {
	var cases []Case
	for outcome, code := range map[string]prepaid.ErrorCode{
		"400-invalid_request":          prepaid.CodeInvalidRequest,
		"400-invalid_uri":              prepaid.CodeInvalidURI,
		"400-invalid_scope":            prepaid.CodeInvalidScope,
		"400-invalid_filter_spec":      prepaid.CodeInvalidFilterSpec,
		"400-invalid_enabled":          prepaid.CodeInvalidEnabled,
		"400-invalid_reliability_mode": prepaid.CodeInvalidReliabilityMode,
		"400-invalid_hmac_key_id":      prepaid.CodeInvalidHMACKeyID,
		"400-invalid_hmac_key_secret":  prepaid.CodeInvalidHMACKeySecret,
		"400-no_response":              prepaid.CodeNoResponse,
	} {
		cases = append(cases, call.refused(outcome, code, prepaid.ErrBadRequest, prepaid.OutcomeRejected))
	}
	return cases
}
