//go:build !prepaid_nofastpath

package internal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/wire"
)

type thing struct {
	ID, Note string
	Count    int64
	Small    int
	At       time.Time
	Sure     *bool
	Owner    owner

	raw   string
	exact bool
}

type owner struct{ Name string }

func (o *owner) read(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		if string(name) == "name" {
			wire.Text(&o.Name, r)
		}
	}
}

func (v *thing) read(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "id":
			wire.Text(&v.ID, r)
		case "note":
			wire.Text(&v.Note, r)
		case "count":
			wire.Integer(&v.Count, r)
		case "small":
			wire.Integer(&v.Small, r)
		case "at":
			wire.Time(&v.At, r)
		case "sure":
			wire.Optional(&v.Sure, r, wire.Bool)
		case "owner":
			wire.Struct(&v.Owner, r, (*owner).read)
		case "recorded":
			r.Record(v, v.read, keep)
		case "code":
			text, bare := r.StringOrInteger()
			if r.Set(&v.ID, text); bare {
				r.Inexact()
			}
		}
	}
}

func keep(of any, raw []byte, exact bool) {
	if v, ok := of.(*thing); ok {
		v.raw, v.exact = string(raw), exact
	}
}

func readThing(t *testing.T, body string) thing {
	t.Helper()
	var v thing
	require.True(t, wire.Read([]byte(body), v.read), body)
	return v
}

func TestReader(t *testing.T) {
	t.Parallel()
	sure := true
	require.Equal(t, thing{
		ID: "a", Note: "Zoë", Count: -12, Small: 7, At: time.Date(2026, 11, 3, 10, 20, 30, 0, time.UTC),
		Sure: &sure, Owner: owner{"o"},
	}, readThing(t, ` { "id" : "a", "note":"Zo\u00eb", "count":-12, "small":7, "at":"2026-11-03T10:20:30Z", "raw" : {"x":[1, 2]},
		"sure":true, "owner":{"more":{},"name":"o"}, "unknown":[true,false,null,-1.5e3,"\"",{"a":1}]} `))
	require.Equal(t, thing{}, readThing(t, `{}`))
	require.Equal(t, thing{}, readThing(t, `{"id":null,"note":null,"count":null,"at":null,"sure":null,"owner":null}`))
}

// Repeated members: the last counts.
func TestRepeatedMembers(t *testing.T) {
	t.Parallel()
	v := readThing(t, `{"id":"a","id":"b","owner":{"name":"a"},"owner":null,"sure":true,"sure":null}`)
	require.Equal(t, thing{ID: "b"}, v)
	require.Empty(t, readThing(t, `{"id":"a","id":null}`).ID)
	require.Equal(t, "b", readThing(t, `{"note":"a","owner":null,"note":"b"}`).Note, "also after texts were flushed")
}

func TestRecord(t *testing.T) {
	t.Parallel()
	v := readThing(t, `{"recorded": {"id":"a" } ,"code":1.0}`)
	require.Equal(t, `{"id":"a" }`, v.raw)
	require.True(t, v.exact)
	require.Equal(t, "1", v.ID)
	for _, other := range []string{`{"id":1}`, `{"id":""}`, `{"code":1}`} {
		require.False(t, readThing(t, `{"recorded":`+other+`}`).exact, other)
	}
}

// A required member is plain unless it is null or empty.
func TestRequired(t *testing.T) {
	t.Parallel()
	for text, plain := range map[string]bool{`"a"`: true, ` "a"`: true, `0`: true, ` "" `: false, `null`: false, ` null`: false} {
		found := uint(0)
		require.Equal(t, plain, wire.Read([]byte(`{"id":`+text+`}`), func(r *wire.Reader) {
			for _, ok := r.First(); ok; _, ok = r.Next() {
				found |= r.Required(1 << 3)
				wire.Text(new(string), r)
			}
		}), text)
		require.EqualValues(t, 1<<3, found)
	}
}

// A page costs an allocation for the list, one for each item's texts, and none for skipped members.
func TestReaderAllocations(t *testing.T) {
	body := []byte(`[` + strings.Repeat(`{"id":"an id","note":"a note","at":"2026-11-03T10:20:30Z","unknown":{"more":[1,2,"three"]}},`, 99) + `{"id":"last"}]`)
	allocations := testing.AllocsPerRun(20, func() {
		if _, ok := wire.ReadItems(body, (*thing).read); !ok {
			t.Error("not read")
		}
	})
	require.LessOrEqual(t, allocations, 110.0)
}

// readTime reads a member on the fast path; ok is false if text is not for it.
func readTime(text string) (at time.Time, ok bool) {
	body := append(append([]byte(`"`), text...), '"')
	ok = wire.Read(body, func(r *wire.Reader) { wire.Time(&at, r) })
	return at, ok
}

var plainTimes = []string{"2026-11-03T10:20:30Z", "2028-02-29T23:59:59Z", "0001-01-01T00:00:00Z"}

var otherTimes = []string{
	"", "2026-11-03", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "0000-01-01T00:00:00Z",
	"2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:0xZ", "2026-01-01T00:00:00z",
}

func TestPlainTime(t *testing.T) {
	t.Parallel()
	for _, text := range plainTimes {
		got, ok := readTime(text)
		require.True(t, ok, text)
		require.Equal(t, text, got.Format(wire.TimeLayout))
	}
	for _, text := range otherTimes { // whichever of the two ways reads it
		got, ok := readTime(text)
		want, _, wanted := wire.ParseTime(text)
		require.Equal(t, wanted, ok, text)
		require.Equal(t, want, got, text)
	}
}
