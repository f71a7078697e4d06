package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
)

// differing are the limits of the document that the client does not have, and why.
func differing() map[string]string {
	const zero, rule = "its zero value is sent, and is meant", "any rule can be removed"
	return map[string]string{
		"Accounts.SetPlasticEnabled plastic_enabled required": zero, "Accounts.Transfer transaction_type required": zero,
		"Funding.Redeem clearing_adjustment required": zero, "Funding.Reverse clearing_adjustment required": zero,
		"Accounts.Create initial_load_amount required": zero, "Hooks.Create enabled required": zero,
		"Policy.ChangeMerchants remove.acquirer_id required": rule, "Policy.ChangeMerchants remove.card_acceptor_id required": rule,
		"Policy.ChangeTerminals remove.acquirer_id required": rule, "Policy.ChangeTerminals remove.card_acceptor_id required": rule,
		"Policy.ChangeTerminals remove.terminal_id required": rule,
	}
}

// isHeld reports a member of an update that the service may hold although it would refuse it as a new value.
func isHeld(operation, member string) bool {
	return operation == "Accounts.Update" && member != "registration" && member != "initiating_user_id"
}

// member is a member of a request. Its fields are the names in errors: one for each element of a list on the way.
type member struct {
	path   []string
	fields []string
	schema *reference.Schema
	of     *reference.Schema
}

func (m member) name() string { return strings.Join(m.path, ".") }

// requestMembers returns the members of a request, inner ones too.
func requestMembers(s *reference.Schema, path, fields []string) (all []member) {
	if s == nil {
		return nil
	}
	if s.Items != nil {
		var elements []string
		for _, field := range fields {
			elements = append(elements, field+"[0]", field+"[1]")
		}
		return requestMembers(s.Items, path, elements)
	}
	for _, inner := range s.Properties {
		m := member{path: append(slices.Clone(path), inner.Name), schema: inner.Value, of: s}
		for _, field := range fields {
			m.fields = append(m.fields, strings.TrimPrefix(field+"."+inner.Name, "."))
		}
		all = append(all, m)
		all = append(all, requestMembers(inner.Value, m.path, m.fields)...)
	}
	return all
}

// edge is a value at a limit.
type edge struct {
	limit string
	value any
	legal bool
	shown string // the part of the value that is in no error
}

// edges returns the values next to each limit of a schema.
func edges(s *reference.Schema) (all []edge) {
	add := func(limit string, legal bool, values ...any) {
		for _, value := range values {
			all = append(all, edge{limit, value, legal, regexp.MustCompile("(?i)qzx?").FindString(fmt.Sprint(value))})
		}
	}
	bubble := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the day in a bubble
	day := func(days int) string { return bubble.AddDate(0, 0, days).Format(time.RFC3339) }
	switch {
	case s.Future:
		add("x-future", true, day(1))
		add("x-future", false, day(0), day(-1))
	case s.Format == "date-time":
		add("format", true, "1973-05-04T00:00:00Z") // a time in the past; a Go type has no other values than times
	case s.Encoding != "", len(s.Properties) > 0:
	case len(s.Enum) > 0:
		for _, value := range s.Enum {
			add("enum", true, sample.Plain(value))
		}
		if first, ok := s.Enum[0].(string); ok {
			add("enum", false, "qZ7x", strings.ToUpper(first)+"Q", strings.ToLower(first)+"q")
		} else {
			add("enum", false, json.Number("-1"), json.Number("977"))
		}
	case s.ExclusiveMinimum != nil:
		add("exclusiveMinimum", true, decimal(*s.ExclusiveMinimum+0.001))
		add("exclusiveMinimum", false, decimal(*s.ExclusiveMinimum), decimal(*s.ExclusiveMinimum-9.17))
	case s.Minimum != nil:
		add("minimum", true, decimal(*s.Minimum))
		add("minimum", false, decimal(*s.Minimum-0.001), decimal(*s.Minimum-9.17))
	case s.MinItems > 0:
		add("minItems", false, []any{})
	case s.Type[0] == "string":
		for _, text := range formTexts()[s.Format] {
			add("format", text[0] != '!', strings.TrimPrefix(text, "!"))
		}
		if s.Format == "" {
			all = append(all, textEdges(s)...)
		}
	}
	return all
}

func decimal(value float64) json.Number { return json.Number(strconv.FormatFloat(value, 'f', -1, 64)) }

// formTexts are texts of a format, and others after an exclamation mark.
func formTexts() map[string][]string {
	const uuid = harness.UUID
	return map[string][]string{
		"uuid": {
			uuid, strings.ToUpper(uuid), "00000000-0000-0000-0000-000000000000", "!917531", "!01234567-89ab-cdef-0123-456789abcdeQ",
			"!" + strings.ReplaceAll(uuid, "-", ""), "!{" + uuid + "}", "!" + uuid + "0", "!0123456-789ab-cdef-0123-456789abcdef", "!" + uuid + "\n",
		},
		"email": {
			"q@zx", "q+tag.x@zx.example", "Ж@пример.example", `"q z"@zx.example`, "q@[192.0.2.1]", "#$%&'*+-/=?^_`{|}~@zx.example", `"q@q"@zx.example`,
			"!qzxwv", "!@qzxwv.example", "!qzxwv@", "!Qz Xw <q@zxwv.example>", "! q@zxwv.example", "!q@zxwv.example, p@zxwv.example", "!q@zx\nwv",
			`!"" <"q"@zxwv.example>`, `!"q" @zxwv.example`,
		},
		"uri": {
			"https://h.example", "https://[2001:db8::1]:8443/a?b=c#d", "https://h.example/é", "https://localhost/", "https://user:pa%20ss@h.example/@",
			"!http://qzxwv.example/", "!qzxwv.example/a", "!ftp://qzxwv.example/", "!https:///qzxwv", "!https://:443/qzxwv", "!//qzxwv.example/",
			"!https://qzx wv.example/", "!https://q@/zxwv", "!https:qzxwv.example",
		},
	}
}

// textEdges returns the shortest and longest texts and those beyond, and texts with other characters.
func textEdges(s *reference.Schema) (all []edge) {
	pattern := regexp.MustCompile(s.Pattern)
	legal := func(text string) bool {
		n := utf8.RuneCountInString(text)
		return pattern.MatchString(text) && n >= s.MinLength && (s.MaxLength == 0 || n <= s.MaxLength)
	}
	sized := func(n int) string {
		if s.Pattern != "" {
			return sample.Matching(s, n, 1)
		}
		return harness.WideText(n)
	}
	for _, n := range []int{s.MaxLength, s.MinLength} {
		for _, length := range []int{n - 1, n, n + 1} {
			if text := sized(max(length, 1)); n > 0 && length > 0 {
				all = append(all, edge{map[bool]string{true: "maxLength", false: "minLength"}[n == s.MaxLength], text, legal(text), text})
			}
		}
	}
	if s.Pattern == "" {
		return all
	}
	base := sized(max(s.MinLength, 6))
	if strings.HasPrefix(s.Go, "Envelope.Encrypted") { // whole blocks, and an RSA key of at least 2,048 bits
		base = sized(512)
	}
	for _, c := range []string{"é", " ", "-", ";", "_", "~", "'", ",", "\n", "\x7f", "９", "a", "G", "x", "7", ".", "/"} {
		all = append(all, edge{"pattern", c + base[1:], legal(c + base[1:]), base[1:]})
	}
	for _, text := range []string{base + base[:1], base[1:]} {
		if !legal(text) && text != "" {
			all = append(all, edge{"pattern", text, false, text})
		}
	}
	return all
}

// Each limit of the document is kept: the nearest legal value is sent, and the first illegal one is refused, by an error that names the
// field and not the value. With SkipValueChecks only what could do harm is refused.
func TestLimits(t *testing.T) {
	t.Parallel()
	unused := differing()
	for _, o := range reference.Read().Operations {
		if o.Request.JSON() == nil {
			continue
		}
		for _, m := range requestMembers(o.Request.JSON(), nil, []string{""}) {
			list := edges(m.schema)
			list = append(list, edge{limit: "required", legal: !sample.Requires(m.of, m.path[len(m.path)-1])})
			for _, e := range list {
				name := o.Name + " " + m.name() + " " + e.limit
				lax := !e.legal && (differing()[name] != "" || isHeld(o.Name, m.path[0]))
				if lax {
					delete(unused, name)
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { requireLimit(t, sample.NewRequest(o, true), m, e, lax) })
				})
			}
		}
	}
	require.Empty(t, unused)
}

func requireLimit(t *testing.T, r *sample.Request, m member, e edge, lax bool) {
	t.Helper()
	r = r.With(m.path, e.value)
	call := func(ctx context.Context, c *prepaid.Client) error {
		_, err := r.Call(ctx, c)
		return err
	}
	if e.legal || lax {
		requireSent(t, r, e, sends(t, fmt.Sprint(e.value), call))
		return
	}
	err := sendsNothing(t, call)
	first := harness.As[*prepaid.ValidationError](t, err).Faults[0]
	if first.Field != m.fields[0] { // an object that is no pointer in Go: its members are missing
		m.fields = nil
		for _, inner := range *m.schema.Required {
			m.fields = append(m.fields, m.name()+"."+inner)
		}
	}
	faults := make([]harness.Fault, len(m.fields))
	for i, field := range m.fields {
		faults[i].Field = field
	}
	requireRefusal(t, err, e.shown, faults...)
	if isNeverSkipped(m.fields[0], first.Rule) {
		requireRefusal(t, sendsNothingWith(t, skipping(), call), e.shown, faults...)
		return
	}
	requireSent(t, r, e, sendsWith(t, skipping(), "with SkipValueChecks", call))
}

// requireSent checks that a value arrives as it is. A missing one may be sent as an empty text or zero.
func requireSent(t *testing.T, r *sample.Request, e edge, sent sentRequest) {
	t.Helper()
	if e.limit != "required" {
		require.Equal(t, normal(t, r.Body), normal(t, sent.body))
	}
}
