package prepaid

import (
	"context"
	"strings"
)

func hookChangeFixtures() []fixtureCase {
	create := func(enabled bool, mode ReliabilityMode) fixtureCall[*CreatedHook] {
		return fixtureOf("Hooks.Create", func(ctx context.Context, client *Client) (*CreatedHook, error) {
			return client.Hooks.Create(ctx, CreateHookParams{
				URI: "https://hooks.example.com/prepaid?tenant=7", Scope: []CompanyID{4217, 4218}, FilterSpec: FilterAll,
				Enabled: enabled, ReliabilityMode: mode, HMACKeyID: "key-2026/11", HMACKeySecret: NewSecret(strings.Repeat("c0ffee00", 8)),
			})
		})
	}
	update := func(params UpdateHookParams) fixtureCall[struct{}] {
		return fixtureDo("Hooks.Update", func(ctx context.Context, client *Client) error {
			return client.Hooks.Update(ctx, fixtureHookID, params)
		})
	}
	remove := fixtureDo("Hooks.Delete", func(ctx context.Context, client *Client) error {
		return client.Hooks.Delete(ctx, fixtureHookID)
	})
	enabled := create(true, ReliabilityModeStoreUndeliverable)
	every := update(UpdateHookParams{
		URI: "https://hooks.example.com/prepaid?tenant=7", Scope: []CompanyID{4217, 4218}, FilterSpec: FilterAll,
		Enabled: new(true), ReliabilityMode: ReliabilityModeStoreUndeliverable, HMACKeyID: "key-2026/11",
		HMACKeySecret: NewSecret(strings.Repeat("c0ffee00", 8)),
	})
	return concat(
		hookErrors(enabled), enabled.usual(CodeUnauthorized, OutcomeUnknown),
		hookErrors(every), every.usual(CodeUnauthorized, OutcomeUnknown),
		remove.usual(CodeUnauthorized, OutcomeUnknown),
		[]fixtureCase{
			enabled.gives("201", &CreatedHook{ID: fixtureHookID}),
			create(false, ReliabilityModeNone).gives("201-disabled", &CreatedHook{ID: fixtureHookID}),
			enabled.throttled(),
			every.gives("200", struct{}{}),
			update(UpdateHookParams{Enabled: new(false)}).gives("200-disabled", struct{}{}),
			every.throttled(),
			remove.gives("204", struct{}{}),
		},
	)
}

// hookErrors are the nine codes of registration and update.
func hookErrors[T any](call fixtureCall[T]) []fixtureCase {
	var cases []fixtureCase
	for outcome, code := range map[string]ErrorCode{
		"400-invalid_request":          CodeInvalidRequest,
		"400-invalid_uri":              CodeInvalidURI,
		"400-invalid_scope":            CodeInvalidScope,
		"400-invalid_filter_spec":      CodeInvalidFilterSpec,
		"400-invalid_enabled":          CodeInvalidEnabled,
		"400-invalid_reliability_mode": CodeInvalidReliabilityMode,
		"400-invalid_hmac_key_id":      CodeInvalidHMACKeyID,
		"400-invalid_hmac_key_secret":  CodeInvalidHMACKeySecret,
		"400-no_response":              CodeNoResponse,
	} {
		cases = append(cases, call.refused(outcome, code, ErrBadRequest, OutcomeRejected))
	}
	return cases
}
