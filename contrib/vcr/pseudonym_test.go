package prepaidvcr

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each kind of value and the look of its pseudonym.
func TestPseudonymsLookAlike(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"":                                     "",
		"Mira":                                 `^anon\d+$`,
		"MIRA":                                 `^ANON\d+$`,
		"O’Testname ":                          `^anon\d+$`,
		"4217":                                 `^99\d{7}$`,
		"70010020991":                          `^99\d{9}$`,
		"9007199254740993":                     `^99\d{14}$`,
		"EA52174568995001":                     `^EA99\d{12}$`,
		"EA-700100200":                         `^EA99\d{7}$`,
		"516353******9917":                     `^99\d{4}\*{6}\d{4}$`,
		"+61 491 570 156":                      `^\+99 \d{3} \d{3} \d{3}$`,
		"-25.50":                               `^-99\d{7}\.00$`,
		"1.01":                                 `^99\d{7}\.00$`,
		"7d8f2b1a-3c4d-4e5f-8a9b-0c1d2e3f4a5b": `^00000000-0000-4000-8000-\d{12}$`,
		"1980-02-29T00:00:00Z":                 `^19[01]\d-\d\d-\d\dT00:00:00Z$`,
		"1980-02-29":                           `^19[01]\d-\d\d-\d\d$`,
		"canary.mira@example.com":              `^anon\d+@example\.com$`,
		"https://hooks.example.org/a?b=c":      `^https://example\.com/anon\d+$`,
		"203.0.113.7":                          `^198\.18\.\d+\.\d+$`,
		"2001:db8:1::7":                        `^2001:db8::[0-9a-f]+$`,
		strings.Repeat("ab12", 16):             `^0{56,}\d+$`,
		"<html>Mira</html>":                    `^<anon\d+>$`,
		"canary+exchange/data==":               `^anon\d+$`,
		"anon7":                                `^anon\d+$`,
		"emp-7~ !":                             `^anon\d+$`,
	} {
		names := newPseudonyms()
		names.number("somebody else")
		got := names.stand(value, formByValue)
		require.Regexp(t, want, got, value)
		require.True(t, isPseudonym(got, formByValue), "%s for %s", got, value)
		require.Equal(t, got, names.stand(value, formByValue), "the same value, the same pseudonym")
		if value != "" {
			require.NotEqual(t, got, names.stand(value+"1", formByValue))
		}
		require.Equal(t, value == "" || value == "anon7", isPseudonym(value, formByValue), value)
	}
}

// If there is no room, the pseudonym is a constant.
func TestNarrowPseudonyms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		form        form
		value, want string
	}{
		{formZeros, "9917", "0000"}, {formZeros, "062000", "000000"}, {formState, "NSW", "ANON"}, {formState, "", ""},
		{formAlpha2, "AU", "ZZ"}, {formAlpha3, "AUS", "ZZZ"}, {formSex, "M", "F"},
	} {
		got := newPseudonyms().stand(test.value, test.form)
		require.Equal(t, test.want, got)
		require.True(t, isPseudonym(got, test.form))
		require.Equal(t, got == test.value, isPseudonym(test.value, test.form))
	}
	future := newPseudonyms().stand("2049-05-31T00:00:00Z", formFuture)
	require.Equal(t, "2999-01-02T00:00:00Z", future)
	require.True(t, isPseudonym(future, formFuture))
	require.Equal(t, "anon1", newPseudonyms().stand("longer than eight", formZeros))
}

// Each number has a different pseudonym, and no real number nearby looks like one.
func TestDigitsPseudonyms(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for n := 1; n <= 100100; n++ {
		text := digitsFor(n, 9)
		if seen[text] {
			require.Fail(t, "twice", text)
		}
		seen[text] = true
	}
	passed := 0
	for n := range 50000 {
		if isDigitsPseudonym(strconv.Itoa(990000000 + n)) {
			passed++
		}
	}
	require.Less(t, passed, 550)
	for _, real := range []string{"123456789", "516353119917", "0400000000", "9900", "99000", "990000000", "00000000000"} {
		require.False(t, isPseudonym(real, formByValue), real)
	}
	for n := 1; n <= 20000; n++ {
		require.True(t, isPseudonym(dateFor(n, formByValue, true), formByValue))
		require.True(t, isPseudonym(addressFor(n, n%2 == 0), formByValue))
		require.True(t, isPseudonym(hexFor(n, 64), formByValue))
		require.True(t, isPseudonym(digitsFor(n, 30), formByValue))
	}
}

// A hostile guess cannot be confirmed: the numbers show only the order.
func TestPseudonymsDependOnOrderOnly(t *testing.T) {
	t.Parallel()
	one, two := newPseudonyms(), newPseudonyms()
	for _, value := range []string{"first", "second", "third"} {
		require.Equal(t, one.stand(value, formByValue), two.stand("other "+value, formByValue))
	}
}

func scrubJSON(t *testing.T, body string, known *shape) string {
	t.Helper()
	work := scrubber{names: newPseudonyms()}
	text, err := work.json("body", []byte(body), known)
	require.NoError(t, err)
	var compact strings.Builder
	for line := range strings.Lines(text) {
		compact.WriteString(strings.TrimSpace(line))
	}
	return compact.String()
}

// Members that the schema does not know are scrubbed, names included.
func TestUnknownIsScrubbed(t *testing.T) {
	t.Parallel()
	known := object(map[string]*shape{"status": {keep: isFlag}, "name": scrubbed()})
	for body, want := range map[string]string{
		`{"status":true,"name":"Mira"}`:                     `{"status": true,"name": "anon1"}`,
		`{"status":"Mira","name":7}`:                        `{"status": "anon1","name": 990000274}`,
		`{"Mira":{"Smith":[true,null,1.5,"x"]}}`:            `{"anon1": {"anon2": [false,null,990000314,"anon4"]}}`,
		`{"name":{"status":true,"status":1e5}}`:             `{"name": {"anon1": false,"anon1": 990000274}}`,
		`{"name":"a","name":"b","name":"a"}`:                `{"name": "anon1","name": "anon2","name": "anon1"}`,
		`[{"status":false}]`:                                `[{"status": false}]`,
		`["Mira",-3]`:                                       `["anon1",990000274]`,
		"{\"name\":\"\\u004dira\",\"status\":\"\xff bad\"}": `{"name": "anon1","status": "anon2"}`,
		`null`: `null`, `"Mira"`: `"anon1"`, `{}`: `{}`,
	} {
		require.Equal(t, want, scrubJSON(t, body, known), body)
	}
	for _, body := range []string{`{"name":"Mira"`, `{"name":"Mira"} and more`, `Mira`, `{"name":"Mira",}`, `[1,]`, `{]`} {
		work := scrubber{names: newPseudonyms()}
		require.Regexp(t, `^anon\d+$`, work.body("body", []byte(body), known, bodyJSON), body)
		require.Len(t, work.leaves, 1)
	}
}

// Every cell of a table is replaced; its form, so its number of rows, remains.
func TestTables(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		"a,b\r\nc,1\r\n":           "anon1,anon2\r\nanon3,990000451\r\n",
		"a;b\nc;d":                 "anon1\nanon2",
		`"a, ""b""",x` + "\n":      `"anon1",anon2` + "\n",
		"\"two\nlines\",x\nlast\n": "\"anon1\",anon2\nanon3\n",
		`"never ends,1` + "\n2":    `"anon1"`,
		`"a"b,c`:                   `"anon1"`,
		",,\n,":                    ",,\n,",
		`""`:                       `""`,
		"name,amount\nMira,1.50\n": "name,amount\nanon1,990000274.00\n",
		"amount,name\n":            "amount,name\n",
		"name,Mira\n":              "anon1,anon2\n",
	} {
		work := scrubber{names: newPseudonyms(), columns: columns{names: []string{"name", "Amount"}}}
		got := work.table("body.reportdata", text, 0)
		require.Equal(t, want, got)
		for _, l := range work.leaves {
			if !l.kept && len(l.value) > 3 {
				require.NotContains(t, got, l.value)
			}
		}
	}
}
