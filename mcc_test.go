package prepaid

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/ascii"
)

func TestParseMCC(t *testing.T) {
	t.Parallel()
	for n := range 10_000 {
		want := MCC(fmt.Sprintf("%04d", n))
		for _, in := range []string{string(want), strconv.Itoa(n)} {
			got, err := ParseMCC(in)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		require.True(t, want.valid())
	}
	for _, in := range []string{"", " ", "54111", "00742", "54 1", "-1", "+742", "54.1", "5e3", "54a1", "٧٤٢", "742 ", "0x1"} {
		got, err := ParseMCC(in)
		require.ErrorIs(t, err, ErrMCCSyntax, in)
		require.Empty(t, got)
		require.False(t, MCC(in).valid(), in)
	}
	_, err := ParseMCC("77777")
	require.NotContains(t, err.Error(), "777")
	for _, m := range []MCC{"1", "12", "742"} {
		require.False(t, m.valid())
	}
}

func TestMCCJSON(t *testing.T) {
	t.Parallel()
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		for in, want := range map[string]MCC{
			`742`:              "0742",
			`742.0`:            "0742",
			`7.42e2`:           "0742",
			`"742"`:            "0742",
			`"0742"`:           "0742",
			`"\u0030742"`:      "0742",
			`0`:                "0000",
			`"0"`:              "0000",
			`5411`:             "5411",
			`"5411"`:           "5411",
			`""`:               "",
			`null`:             "",
			`54111`:            "54111", // no code, kept as it came
			`"54111"`:          "54111",
			`-1`:               "-1",
			`54.5`:             "54.5",
			`1e400`:            "1e400",
			`"retail"`:         "retail",
			`" 742"`:           " 742",
			`"caf\u00e9"`:      "café",
			`"say \"hi\""`:     `say "hi"`,
			`"00742"`:          "00742",
			`"*"`:              "*",
			`9007199254740993`: "9007199254740993",
		} {
			m := MCC("before")
			require.NoError(t, lib.unmarshal([]byte(in), &m), in)
			require.Equal(t, want, m, in)
			out, err := lib.marshal(m)
			require.NoError(t, err)
			var text string
			require.NoError(t, json.Unmarshal(out, &text), "written as a string")
			require.Equal(t, string(want), text)
			var back MCC
			require.NoError(t, lib.unmarshal(out, &back))
			require.Equal(t, m, back)
		}
		for _, in := range []string{`true`, `{}`, `[742]`} {
			m := MCC("5411")
			require.ErrorIs(t, lib.unmarshal([]byte(in), &m), ErrMCCSyntax, in)
			require.Equal(t, MCC("5411"), m)
		}
		var codes map[MCC][]MCC
		require.NoError(t, lib.unmarshal([]byte(`{"5411":[742,"0742"]}`), &codes))
		require.Equal(t, map[MCC][]MCC{"5411": {"0742", "0742"}}, codes)
	})
	require.ErrorIs(t, new(MCC).UnmarshalJSON([]byte(`0742`)), ErrMCCSyntax)
	require.ErrorIs(t, new(MCC).UnmarshalJSON([]byte(`7x`)), ErrMCCSyntax)
}

func TestMCCNumber(t *testing.T) {
	t.Parallel()
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		out, err := lib.marshal(map[string][]mccNumber{"add": {"0742", "5411", "0000", "0001", "9999", "0010"}})
		require.NoError(t, err)
		require.Equal(t, `{"add":[742,5411,0,1,9999,10]}`, string(out))
		for _, bad := range []mccNumber{"", "742", "54111", "retail", "-742", "7e42"} {
			_, err := lib.marshal(bad)
			require.ErrorIs(t, err, ErrMCCSyntax, string(bad))
		}
	})
}

func FuzzMCC(f *testing.F) {
	for _, seed := range []string{`742`, `"742"`, `"0742"`, `742.0`, `null`, `true`, `""`, `-1`, `1e400`, `"\u0030"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m MCC
		if err := m.UnmarshalJSON(data); err != nil {
			require.ErrorIs(t, err, ErrMCCSyntax)
			require.Empty(t, m)
			return
		}
		if m.valid() {
			number, err := mccNumber(m).MarshalJSON()
			require.NoError(t, err)
			var back MCC
			require.NoError(t, back.UnmarshalJSON(number))
			require.Equal(t, m, back)
			parsed, err := ParseMCC(string(m))
			require.NoError(t, err)
			require.Equal(t, m, parsed)
		}
		var text string
		if json.Unmarshal(data, &text) == nil && len(text) != 4 && (text == "" || !ascii.IsDigits(text) || len(text) > 4) {
			require.Equal(t, MCC(text), m, "odd text changed")
		}
	})
}
