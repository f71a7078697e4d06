package main

import (
	"regexp"
	"slices"
	"strings"
)

// otherAmounts are the forms of initial_load_amount that JSON Schema cannot describe: octal and hexadecimal, bare or quoted.
var otherAmounts = regexp.MustCompile(`("initial_load_amount"\s*:\s*)(?:0[0-9xXoO][0-9A-Fa-f]*|"[0-9A-Fa-fxXoO.]+")`)

// quotedAmounts are numbers in quotes. The document allows them only unquoted.
var quotedAmounts = regexp.MustCompile(`("amount"\s*:\s*)"([^"\\]*)"`)

// formal reports whether a description of refused input names a rule that JSON Schema can express: the document must
// then refuse the input too. Other rules depend on the state, the time or another member: the document only describes these rules.
func formal(description string) bool {
	return slices.ContainsFunc(strings.Split(strings.TrimPrefix(description, "invalid fields: "), "; "), func(fault string) bool {
		return !slices.ContainsFunc(informal(), func(rule string) bool { return strings.HasSuffix(fault, rule) })
	})
}

func informal() []string {
	return []string{
		"is beyond X-TotalPages", "is no template", "is no report of the template, or no longer available", "is no company", "is no account",
		"is not lost_or_stolen", "is more than the balance", "status must be active", "is needed to tokenise a card",
		"account_id_to_replace is required", "must be later than the current time",
		"certificates is required", "nonce is required", "nonce_signature is required", "must not be empty for that wallet", "must not be empty",
		"must be a known filter", "must be a valid HTTPS URI", // depends on settings
		"must be a date-time in UTC of the form YYYY-MM-DDThh:mm:ssZ", // a schema allows other time zones
		"must be a decimal number of at most 19 digits",               // a schema allows more digits
		"must be decimal, octal with a leading 0 or 0o, or hexadecimal with a leading 0x",
		"is reserved and must be false",
	}
}

// unseen reports a place that no test can see.
func unseen(place string) bool {
	return slices.Contains([]string{
		"code /components/responses/InternalServerError server_error", "status /components/responses/InternalServerError", // only injected
		"status /paths/~1policy~1mccodes/get/responses/204", // the list is never empty
	}, place)
}
