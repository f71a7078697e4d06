package internal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

type stored struct {
	Name    string    `json:"name" rule:"max=3" about:"What it is called."`
	Nick    string    `json:"nick,omitzero" sent:"min=2" seed:"min=3" with:"with_nick,single" about:"Short."`
	Kind    string    `json:"kind" rule:"in=a|b" seed:"-"`
	Count   int64     `json:"count,omitzero" sent:"holder-type"`
	On      bool      `json:"on"`
	Made    time.Time `json:"made"`
	Born    string    `json:"born,omitzero" rule:"date-time,later"`
	Home    place     `json:"home" as:"main" ref:"Place"`
	Other   *place    `json:"other,omitzero"`
	_       string    `computed:"label" emulator:"Ours."`
	Hidden  string    `json:"-"`
	without string
}

type place struct {
	Town   string `json:"town" main:"required"`
	Street string `json:"street" only:"main"`
}

// reading returns the faults that bind finds in a text.
func reading(t *testing.T, text string, document bool, bind func(*wire.Reader)) string {
	t.Helper()
	var found wire.Faults
	members, err := wire.ParseObject([]byte(text))
	require.NoError(t, err)
	b := &wire.Reader{Members: members, Faults: &found, Document: document, Now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	bind(b)
	b.Finish()
	return found.String()
}

func TestTagsSayWhatIsRead(t *testing.T) {
	t.Parallel()
	const whole = `{"name":"Ada","nick":"ab","kind":"a","count":2,"on":true,"made":"2030-01-02T03:04:05Z","born":"2031-01-01T00:00:00.5Z",
		"home":{"town":"x","street":"y"},"other":{}}`
	var s stored
	require.Empty(t, reading(t, whole, false, func(b *wire.Reader) { b.Struct(&s) }))
	require.Equal(t, stored{
		Name: "Ada", Nick: "ab", Kind: "a", Count: 2, On: true, Made: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Born: "2031-01-01T00:00:00Z",
		Home: place{"x", "y"}, Other: &place{},
	}, s)
	for text, want := range map[string]string{
		`{"name":"Adam","nick":"a","kind":"c","count":3}`: "name has more than 3 characters; nick has fewer than 2 characters; kind must be one of a, b; count must be 1 or 2",
		`{"born":"2029-01-01T00:00:00Z"}`:                 "born must be later than the current time",
		`{"home":{},"other":{"street":"y"}}`:              "home.town is required; other.street is not a member of this request",
		`{"label":"x","Hidden":"x","without":"x"}`: "Hidden is not a member of this request; label is not a member of this request; " +
			"without is not a member of this request",
	} {
		require.Equal(t, want, reading(t, text, false, func(b *wire.Reader) { b.Struct(new(stored)) }))
	}
	require.Equal(t, "nick has fewer than 3 characters; kind is not known here; known are born, count, home, made, name, nick, on, other",
		reading(t, `{"nick":"ab","kind":"a"}`, true, func(b *wire.Reader) {
			b.Member(&s, "name")
			b.Rest(&s)
		}))
	require.Equal(t, "name has the unknown rule long", reading(t, `{"name":"x"}`, false, func(b *wire.Reader) {
		b.Struct(&struct {
			Name string `json:"name" rule:"long"`
		}{})
	}), "a limit that is misspelled is never left out")
}

func TestMembersAreTaken(t *testing.T) {
	t.Parallel()
	from, into := stored{Name: "a", Nick: "b", Kind: "c"}, stored{Kind: "k", Count: 1}
	into.without = "kept"
	wire.Assign(&into, &from, []string{"nick", "count"})
	require.Equal(t, stored{Nick: "b", Kind: "k", without: "kept"}, into)
	wire.FillIn(&into, &from)
	require.Equal(t, stored{Name: "a", Nick: "b", Kind: "k", without: "kept"}, into)
	wire.Take(&into, &stored{Kind: "c", Nick: ""})
	require.Equal(t, stored{Name: "a", Nick: "b", Kind: "c", without: "kept"}, into)
}
