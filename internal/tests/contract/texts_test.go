package contract

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
)

// eachText runs a test for each text of each request: put returns the request with another one.
func eachText(t *testing.T, test func(t *testing.T, m member, put func(text string) *sample.Request)) {
	t.Helper()
	for _, o := range reference.Read().Operations {
		for _, m := range requestMembers(o.Request.JSON(), nil, []string{""}) {
			list := m.schema.Items != nil && m.schema.Items.Type[0] == "string"
			if m.schema.Type[0] != "string" && !list || m.schema.Format == "date-time" || m.schema.Encoding != "" || o.Name == "Token" {
				continue
			}
			put := func(text string) *sample.Request { return sample.NewRequest(o, true).With(m.path, text) }
			if list {
				m.fields = []string{m.name() + "[0]", m.name() + "[1]"}
				put = func(text string) *sample.Request { return sample.NewRequest(o, true).With(m.path, []any{text, text}) }
			}
			t.Run(o.Name+" "+m.name(), func(t *testing.T) {
				t.Parallel()
				test(t, m, put)
			})
		}
	}
}

func calling(r *sample.Request) func(context.Context, *prepaid.Client) error {
	return func(ctx context.Context, c *prepaid.Client) error {
		_, err := r.Call(ctx, c)
		return err
	}
}

// Bad UTF-8 in any text of any request is refused, with the field's name: JSON cannot hold it, and U+FFFD in its place would be another
// text.
func TestBadUTF8IsRefused(t *testing.T) {
	t.Parallel()
	eachText(t, func(t *testing.T, m member, put func(text string) *sample.Request) {
		for _, config := range []prepaid.Config{harness.ServiceConfig(), skipping()} {
			err := sendsNothingWith(t, config, calling(put("qZ7x\xff")))
			require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
			for _, fault := range harness.As[*prepaid.ValidationError](t, err).Faults {
				require.Contains(t, m.fields, fault.Field)
			}
			harness.RequireNoPart(t, "qZ7x", err.Error())
		}
	})
	for _, o := range reference.Read().Operations {
		for _, p := range o.Query() {
			r := sample.NewRequest(o, true)
			if p.Schema.Type[0] != "string" || p.Schema.Format != "" || strings.HasPrefix(p.Name, "page_") || len(r.Query.Get(p.Name)) < 2 {
				continue
			}
			r.Query.Set(p.Name, "qZ7x\xff")
			err := sendsNothing(t, calling(r))
			faults := harness.As[*prepaid.ValidationError](t, err).Faults
			require.Equal(t, faults[0].Field, faults[len(faults)-1].Field, "%s: %s", o.Name, p.Name)
			harness.RequireNoPart(t, "qZ7x", err.Error())
		}
	}
}

// Texts that the document does not limit are not refused, and arrive as they are: texts of any length with line ends, quotes and NUL in
// them.
func TestFreeTextsArrive(t *testing.T) {
	t.Parallel()
	text := harness.WideText(3000) + " \r\n\t\x00\"\\</script>\u2028"
	eachText(t, func(t *testing.T, m member, put func(text string) *sample.Request) {
		s := m.schema
		if s.Pattern != "" || s.Format != "" || s.MaxLength > 0 || len(s.Enum) > 0 {
			return
		}
		r := put(text)
		require.Equal(t, normal(t, r.Body), normal(t, sends(t, m.name(), calling(r)).body))
	})
}

// A missing parameter is reported, and all missing members at once.
func TestMissingMembers(t *testing.T) {
	t.Parallel()
	for _, o := range reference.Read().Operations {
		for _, p := range o.Query() {
			if r := sample.NewRequest(o, false); p.Required && p.Schema.Type[0] == "string" {
				r.Query.Del(p.Name)
				faults := harness.As[*prepaid.ValidationError](t, sendsNothing(t, calling(r))).Faults
				require.Len(t, faults, 1)
				require.True(t, strings.HasSuffix(faults[0].Field, p.Name), "%s: %s", o.Name, faults[0].Field)
			}
		}
		s := o.Request.JSON()
		if s == nil || o.Name == "Token" {
			continue
		}
		r := sample.NewRequest(o, false)
		r.Body = map[string]any{}
		var want []string
		for _, inner := range s.Properties {
			if sample.Requires(s, inner.Name) && differing()[o.Name+" "+inner.Name+" required"] == "" {
				want = append(want, inner.Name)
			}
		}
		if len(want) == 0 {
			continue
		}
		var got []string
		for _, fault := range harness.As[*prepaid.ValidationError](t, sendsNothing(t, calling(r))).Faults {
			got = append(got, fault.Field)
		}
		if bank := "destination_account_info"; slices.Contains(want, bank) { // no pointer in Go
			want = append(slices.DeleteFunc(want, func(name string) bool { return name == bank }), bank+".bsb", bank+".account_number", bank+".account_name")
		}
		require.ElementsMatch(t, want, got, o.Name)
	}
}
