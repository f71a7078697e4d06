package journalfile

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// All texts of an entry, including future ones.
func TestNoTextOfAnEntryIsInvalid(t *testing.T) {
	t.Parallel()
	whole := journal.Entry{RequestID: "r", State: journal.StateDone}
	_, err := encode(whole)
	require.NoError(t, err)
	texts := 0
	for field := range reflect.TypeFor[journal.Entry]().Fields() {
		if field.Type.Kind() != reflect.String {
			continue
		}
		texts++
		e := whole
		reflect.ValueOf(&e).Elem().FieldByIndex(field.Index).SetString("a\xff")
		_, err := encode(e)
		require.ErrorContains(t, err, "invalid UTF-8", field.Name)
	}
	require.Equal(t, 10, texts)
}

// everyMember returns an entry with all members, including future ones.
func everyMember() journal.Entry {
	e := journal.Entry{State: journal.StateUnknown}
	fields := reflect.ValueOf(&e).Elem()
	for _, field := range fields.Fields() {
		switch {
		case field.Type() == reflect.TypeFor[time.Time]():
			field.Set(reflect.ValueOf(time.Date(2026, 2, 28, 23, 59, 59, 120, time.UTC)))
		case field.Type() == reflect.TypeFor[prepaid.Amount]():
			field.Set(reflect.ValueOf(prepaid.Cents(-1250)))
		case field.Type() == reflect.TypeFor[[]byte]():
			field.SetBytes([]byte("sealed"))
		case field.CanInt():
			field.SetInt(-7)
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.IsZero():
			field.SetString("a")
		}
	}
	return e
}

// Times are written in UTC, whatever zone they have.
func TestTimesAreWrittenInUTC(t *testing.T) {
	t.Parallel()
	e := everyMember()
	want, err := encode(e)
	require.NoError(t, err)
	line, err := encode(e.Shift(e.Began, e.Began.In(time.FixedZone("", 36000))))
	require.NoError(t, err)
	require.Equal(t, string(want), string(line))
}

// The JSON is that of encoding/json, which wrote the first journals. To open a large file fast, usual records are decoded without a
// JSON library, with the same result.
func TestRecordsAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	whole := everyMember()
	for _, text := range []string{"a", "<é\"\\>&'", "\x00\b\f\n\r\t\x1b\x7f", "\u0080\u2028\u2029\ufeff\ufffd\U0001f4b6", "/"} {
		for i := range reflect.TypeFor[journal.Entry]().NumField() + 1 {
			e := whole
			e.CorrelationID, e.Code = text, prepaid.ErrorCode(text)
			if i > 0 { // without one
				reflect.ValueOf(&e).Elem().Field(i - 1).SetZero()
			}
			body, err := json.Marshal(e)
			require.NoError(t, err)
			if line, err := encode(e); e.RequestID != "" && e.State != "" {
				require.NoError(t, err)
				require.Equal(t, string(body), string(line[prefix:len(line)-1]))
			}
			var slow, decoded journal.Entry
			require.NoError(t, json.Unmarshal(body, &slow))
			require.Equal(t, e, slow)
			ok := decode(append(frame(body), body...), &decoded)
			require.Equal(t, e.RequestID != "" && e.State != "", ok)
			require.Equal(t, e, decoded)
			if text == "a" {
				var plain journal.Entry
				require.True(t, decodePlain(string(body), &plain), string(body))
				require.Equal(t, e, plain)
			}
		}
	}
}

// Text that needs escapes, times with an offset and very long records are read too.
func TestUnusualRecords(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*journal.Entry){
		func(e *journal.Entry) { e.CorrelationID = "<\u00e9\"\\>" },
		func(e *journal.Entry) { e.Began = e.Began.In(time.FixedZone("", 3600)) },
		func(e *journal.Entry) { e.Sealed = bytes.Repeat([]byte("x"), 200_000) },
		func(e *journal.Entry) { e.Sealed = []byte{} },
	} {
		e := everyMember()
		change(&e)
		line, err := encode(e)
		require.NoError(t, err)
		entries, _, err := scanned(append([]byte(header), line...))
		require.NoError(t, err)
		require.Len(t, entries, 1)
		again, err := encode(entries[0])
		require.NoError(t, err)
		require.Equal(t, line, again)
	}
}
