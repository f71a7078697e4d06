package contract

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// TestFixturesAreAllUsed: files and cases match; every operation has a response, a 401 and a
// 500.
func TestFixturesAreAllUsed(t *testing.T) {
	t.Parallel()
	used, responded := map[string]bool{}, map[string]bool{}
	for _, c := range Cases() {
		used[c.Fixture] = true
		name, _, _ := strings.Cut(c.Fixture, "/")
		responded[name] = responded[name] || !c.Refusal
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(ReadFixtures(t))), slices.Collect(maps.Keys(used)))
	for _, row := range operations.All() {
		require.True(t, responded[row.Name], "%s has no successful response", row.Name)
		unauthorized := row.Name + "/401"
		if row.Name == "Token" {
			unauthorized += "-invalid_client"
		}
		require.Contains(t, used, unauthorized)
		require.Contains(t, used, row.Name+"/500")
	}
}

// TestFixturesHoldEveryErrorCode compares the codes of sections 7 and 4.8 of the reference with the client's and with
// those in the files.
func TestFixturesHoldEveryErrorCode(t *testing.T) {
	t.Parallel()
	reference := map[string][]prepaid.ErrorCode{
		"Token": {"invalid_request", "unsupported_grant_type", "invalid_client", "server_error"},
		"Accounts.ExchangeKey": {
			"bad_application_id", "bad_key_id", "bad_ephemeral_key", "bad_account", "server_error",
		},
		"Hooks.Create": {
			"invalid_request", "invalid_uri", "invalid_scope", "invalid_filter_spec", "invalid_enabled",
			"invalid_reliability_mode", "invalid_hmac_key_id", "invalid_hmac_key_secret", "no_response", "unauthorized",
			"server_error",
		},
		"Hooks.Update": {
			"invalid_request", "invalid_uri", "invalid_scope", "invalid_filter_spec", "invalid_enabled",
			"invalid_reliability_mode", "invalid_hmac_key_id", "invalid_hmac_key_secret", "no_response", "unauthorized",
			"server_error",
		},
		"Hooks.Delete":        {"unauthorized", "server_error"},
		"Hooks.Undeliverable": {"invalid_hook_id", "unauthorized", "server_error"},
		"Hooks.Dismiss":       {"invalid_request", "invalid_hook_id", "invalid_message_id", "unauthorized", "server_error"},
	}
	held := map[string]map[prepaid.ErrorCode]bool{}
	for _, f := range ReadFixtures(t) {
		var body struct {
			Error prepaid.ErrorCode `json:"error"`
		}
		if f.Response.Status < 400 || json.Unmarshal(f.Response.Body, &body) != nil {
			continue
		}
		if held[f.Operation] == nil {
			held[f.Operation] = map[prepaid.ErrorCode]bool{}
		}
		held[f.Operation][body.Error] = true
	}
	var codes []prepaid.ErrorCode
	for operation, listed := range reference {
		for _, code := range listed {
			require.True(t, held[operation][code], "%s: no fixture with %s", operation, code)
			require.True(t, code.Known(), code)
			if !slices.Contains(codes, code) {
				codes = append(codes, code)
			}
		}
	}
	require.ElementsMatch(t, codes, declaredCodes(t))
	for _, example := range []prepaid.ErrorCode{exampleInvalidToken, exampleInvalidFields, exampleRateLimit, exampleAccountNotFound} {
		require.False(t, example.Known(), example)
	}
}

// declaredCodes are the constants of type ErrorCode in the client's source.
func declaredCodes(t *testing.T) []prepaid.ErrorCode {
	t.Helper()
	var codes []prepaid.ErrorCode
	for _, file := range tree.Source(t) {
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				constant := spec.(*ast.ValueSpec)
				if kind, ok := constant.Type.(*ast.Ident); ok && kind.Name == "ErrorCode" {
					code, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
					require.NoError(t, err)
					codes = append(codes, prepaid.ErrorCode(code))
				}
			}
		}
	}
	return codes
}
