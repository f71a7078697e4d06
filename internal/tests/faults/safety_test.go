package faults

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// docs/safety.json gives the safety classes and the expectations of TestOutcomeTable to authors of clients in other languages: for
// each result of every attempt of a request, how often it may be sent and what is known of it then. A class may be narrowed by the
// body of a success, as in "never, none".
func TestSafetyFile(t *testing.T) {
	t.Parallel()
	type class struct {
		Sent    string `json:"sent"`
		Outcome string `json:"outcome"`
	}
	type attempt struct {
		Attempt string           `json:"attempt"`
		Classes map[string]class `json:"classes"`
	}
	type operation struct {
		Operation string   `json:"operation"`
		Method    string   `json:"method"`
		Path      string   `json:"path"`
		Safety    string   `json:"safety"`
		Success   []string `json:"success"`
		Body      string   `json:"body"`
		Also      string   `json:"also,omitzero"`
	}
	sent := map[string]string{"0": "not sent", "1": "once", "2": "once more, with another token", "3": "again, up to a limit", "+": "again, after the pause that the service asks for"}
	outcomes := map[string]string{"S": "success"}
	for letter, outcome := range outcomeLetters {
		outcomes[letter] = strings.TrimPrefix(outcome.String(), "outcome ")
	}
	var rows, attempts []string
	line := func(v any) string {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		return "    " + string(text)
	}
	for _, o := range operations.All() {
		rows = append(rows, line(operation{o.Name, o.Method, o.Path, o.Safety, strings.Split(o.Success, ","), o.Body, strings.Trim(o.Also, "-")}))
	}
	for _, fault := range wireFaults() {
		if fault.few {
			continue
		}
		classes := map[string]class{}
		for key, want := range fault.request {
			require.Contains(t, sent, want[:1])
			classes[key] = class{sent[want[:1]], outcomes[want[1:]]}
		}
		attempts = append(attempts, line(attempt{fault.name, classes}))
	}
	text := "{\n  \"operations\": [\n" + strings.Join(rows, ",\n") + "\n  ],\n  \"attempts\": [\n" + strings.Join(attempts, ",\n") + "\n  ]\n}\n"
	tree.Committed(t, "docs/safety.json", text)
}
