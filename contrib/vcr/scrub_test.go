package prepaidvcr

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/contract"
)

// planted replaces every text and number of a JSON value, or the whole of another text, by a canary.
func planted(body, canary string) []byte {
	body = regexp.MustCompile(`"(\\.|[^"\\])*"(\s*([,}\]]|$))`).ReplaceAllString(body, `"`+canary+`"$2`)
	body = regexp.MustCompile(`-?[0-9][0-9.]*(\s*[,}\]])`).ReplaceAllString(body, `41111111000001$1`)
	if !json.Valid([]byte(body)) {
		return []byte(canary)
	}
	return []byte(body)
}

// A canary in every member of every request and response of every fixture, also where only a status, a time or an amount
// belongs: none comes through. The schema has every member, except where the reference shows none.
func TestCanariesInEveryMember(t *testing.T) {
	t.Parallel()
	known, numbered, dropped := newSchema(names{}), newPseudonyms(), map[string]bool{}
	for _, f := range contract.ReadFixtures(t) {
		for _, canary := range []string{"Cnry9 X", "41111111000001", "2026-01-01T00:00:00.4111111100Z Cnry9"} {
			query := url.Values{}
			for name := range f.Request.Query {
				query.Set(name, canary)
			}
			address, err := url.Parse("https://cards.example.net" + f.Request.Path + "?" + query.Encode())
			require.NoError(t, err)
			request := known.request(numbered.stand, f.Request.Method, address, planted(string(f.Request.Body)+f.Request.Text, canary))
			require.Equal(t, f.Operation, request.name())
			body, responded := known.response(numbered.stand, request.operation, f.Response.Status, planted(string(f.Body()), canary))
			require.NotRegexp(t, "Cnry9|41111111", request.url+request.body+body, f.Operation)
			for _, where := range slices.Concat(request.dropped, responded.dropped) {
				if strings.Contains(where, unknownName) && f.Operation != "Token" { // whose body is no JSON
					dropped[f.Operation+" "+where] = true
				}
			}
		}
	}
	require.Equal(t, []string{
		"Hooks.Undeliverable body.transaction.(unknown)", "PIN.Validate body.(unknown)",
	}, slices.Sorted(maps.Keys(dropped)))
}

// Members of all kinds: only those that cannot have a person's data or a secret are kept.
func TestShapeOfNewMembers(t *testing.T) {
	t.Parallel()
	document, err := reference.Parse([]byte(`{"components": {"schemas": {"Amount": {"type": "number"}, "New": {"properties": {
		"text": {"type": "string"}, "secret": {"enum": ["a"], "x-redact": "secret"},
		"day": {"type": "string", "format": "date-time", "x-redact": "personal"},
		"marked": {"x-redact": "personal", "properties": {"flag": {"type": "boolean"}}},
		"plain": {"type": "array", "items": {"properties": {"flag": {"type": "boolean"}}}},
		"kind": {"type": "integer", "enum": [1]}, "sum": {"$ref": "#/components/schemas/Amount"}, "at": {"type": "string", "format": "date-time"}
	}}}}}`))
	require.NoError(t, err)
	known, _ := document.Schemas.Get("New")
	s := newSchema(names{})
	members := s.shapeOf("", known, false).members
	for _, name := range []string{"text", "secret", "day"} {
		require.Nil(t, members[name].keep, name)
		require.True(t, s.scrubbed[name], name)
	}
	require.Equal(t, someDay, members["day"].constant)
	require.Nil(t, members["marked"].members["flag"].keep)
	require.True(t, members["plain"].members["flag"].keep("true"))
	require.True(t, members["kind"].keep("1") && !members["kind"].keep("2"))
	require.True(t, members["sum"].amount && members["sum"].keep("-25.50") && !members["sum"].keep("4111111111111111"))
	require.True(t, members["at"].keep("2026-11-21T22:14:45Z") && !members["at"].keep("2026-11-21T22:14:45.4111111111111111Z"))
}

// Each kind of value and its pseudonym.
func TestPseudonyms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		l    leaf
		want string
	}{
		{leaf{}, ""}, {leaf{value: "Mira"}, "ANON2"}, {leaf{value: "-25.50"}, "ANON2"}, {leaf{value: "000"}, "000"},
		{leaf{value: "4217"}, "990000002"}, {leaf{value: "70010020991"}, "99000000002"}, {leaf{value: "1234567890123456789"}, "990000000000000002"},
		{leaf{value: "7d8f2b1a-3c4d-4e5f-8a9b-0c1d2e3f4a5b"}, "00000000-0000-4000-8000-000000000002"},
		{leaf{value: "1980-02-29"}, someDay}, {leaf{value: "NSW", constant: "ANON"}, "ANON"},
		{leaf{value: "mira@example.org"}, "ANON2@example.com"}, {leaf{value: "https://hooks.example.org/a?b=c"}, "https://example.com/ANON2"},
		{leaf{value: "<html>Mira</html>"}, "<ANON2>"},
		{leaf{value: "7", number: true, constant: "F"}, "990000002"}, {leaf{value: "-7", number: true}, "-990000002"},
		{leaf{value: "0", number: true}, "0"}, {leaf{value: "1.5", number: true}, "990000002.5"}, {leaf{value: "1e9", number: true}, "990000002.5"},
	} {
		numbered := newPseudonyms()
		numbered.number("somebody else")
		require.Equal(t, test.want, numbered.stand(test.l), test.l.value)
		require.Equal(t, test.want, numbered.stand(test.l), "the same value, the same pseudonym")
	}
}

// What the schema does not name is dropped; a body that is not JSON is one value.
func TestBodies(t *testing.T) {
	t.Parallel()
	known := &shape{members: map[string]*shape{"status": {keep: isFlag}, "name": {}, "reportdata": {table: true}}}
	for body, want := range map[string]string{
		`{"status":true,"name":"Mira"}`:                     `{"status": true,"name": "ANON1"}`,
		`{"status":"Mira","name":7}`:                        `{"status": "ANON1","name": 990000002}`,
		`{"Mira":{"Smith":[true,null,1.5,"x"]}}`:            `{}`,
		`{"name":"a","name":"b","name":"a"}`:                `{"name": "ANON1","name": "ANON2","name": "ANON1"}`,
		`["Mira",-3,{"name":null}]`:                         `["ANON1",-990000002,{"name": null}]`,
		"{\"name\":\"\\u004dira\",\"status\":\"\xff bad\"}": `{"name": "ANON1","status": "ANON2"}`,
		`{"name":"Mira"} and more`:                          `ANON1`,
		`[1,]`:                                              `ANON1`,
		``:                                                  ``,
		`{"reportdata":"a,b\r\n\"c, d\",1\r\n"}`:            `{"reportdata": "ANON1,ANON2\r\nANON3,990000004\r\n"}`,
		`{"reportdata":"amount,name\n1.50,\"\"\nx,2.00\n"}`: `{"reportdata": "amount,name\n1.50,\nANON1,ANON2\n"}`,
		`{"reportdata":"\ufeffamount \n1.50"}`:              `{"reportdata": "` + "\ufeff" + `amount \n1.50\n"}`,
		`{"reportdata":"a,\"b\n"}`:                          `{"reportdata": "ANON1"}`,
	} {
		w := &walk{schema: newSchema(names{keep: []string{"amount"}, scrub: []string{"name"}}), replace: newPseudonyms().stand, places: map[string][]leaf{}}
		var compact strings.Builder
		for line := range strings.Lines(w.read([]byte(body), known)) {
			compact.WriteString(strings.TrimSpace(line))
		}
		require.Equal(t, want, compact.String(), body)
	}
}
