package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// maxDepth is the limit of package jsontext, with the outermost object.
const maxDepth = 10_000

func TestReportDecoderAccepts(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1)
	tests := map[string]struct {
		body, text string
		total      int64
	}{
		"plain":                  {`{"reportdata":"a,b\n","totalrecords":1}`, "a,b\n", 1},
		"byte order mark":        {utf8BOM + `{"reportdata":"` + utf8BOM + `x","totalrecords":1}`, utf8BOM + "x", 1},
		"count first":            {`{"totalrecords":1,"reportdata":"a,b\n"}`, "a,b\n", 1},
		"white space":            {" \t\r\n{ \"reportdata\" : \"x\" ,\n\"totalrecords\" : 1 } \r\n\t ", "x", 1},
		"empty text":             {`{"reportdata":"","totalrecords":0}`, "", 0},
		"other names' case":      {`{"ReportData":"x","TOTALRECORDS":1}`, "x", 1},
		"escaped names":          {`{"\u0072eportdata":"x","total\u0072ecords":1}`, "x", 1},
		"simple escapes":         {`{"reportdata":"\"\\\/\b\f\n\r\t","totalrecords":1}`, "\"\\/\b\f\n\r\t", 1},
		"hex escapes":            {`{"reportdata":"\u0041\u00e9\u20AC\u0000","totalrecords":1}`, "Aé€\x00", 1},
		"surrogate pair":         {`{"reportdata":"\ud83d\ude00","totalrecords":1}`, "😀", 1},
		"utf-8":                  {`{"reportdata":"Zoë €5 😀","totalrecords":1}`, "Zoë €5 😀", 1},
		"replacement rune":       {"{\"reportdata\":\"a\uFFFDb\",\"totalrecords\":1}", "a\uFFFDb", 1},
		"seams of quoted fields": {`{"reportdata":"\"ab\",\"c\",\"\"\r\n\"d\",,\n\n\"e\",\u002c\\","totalrecords":1}`, "\"ab\",\"c\",\"\"\r\n\"d\",,\n\n\"e\",,\\", 1},
		"delete is no control":   {"{\"reportdata\":\"\x7f\",\"totalrecords\":1}", "\x7f", 1},
		"unknown members": {
			`{"a":null,"b":true,"c":false,"d":-0.5e+3,"e":"\"\u12ab","f":[],"g":{},"h":[1,[2,{"x":[{}]}]],` +
				`"reportdata":"x","i":{"reportdata":5,"totalrecords":"no"},"totalrecords":1,"j":[0,"]}"]}`, "x", 1,
		},
		"deep":                  {`{"a":` + deep + `,"reportdata":"x","totalrecords":1}`, "x", 1},
		"long name":             {`{"` + strings.Repeat("reportdata", 100) + `":1,"reportdata":"x","totalrecords":1}`, "x", 1},
		"long unknown":          {`{"n":1` + strings.Repeat("0", 9999) + `,"reportdata":"x","totalrecords":1}`, "x", 1},
		"count with fraction":   {`{"reportdata":"x","totalrecords":12.0}`, "x", 12},
		"count with exponent":   {`{"reportdata":"x","totalrecords":1.25E+2}`, "x", 125},
		"count, shrunk":         {`{"reportdata":"x","totalrecords":1200e-2}`, "x", 12},
		"count, many zeros":     {`{"reportdata":"x","totalrecords":3.00000000000000000000000000}`, "x", 3},
		"count in quotes":       {`{"reportdata":"x","totalrecords":"12"}`, "x", 12},
		"count 0":               {`{"reportdata":"","totalrecords":0}`, "", 0},
		"count 0.0":             {`{"reportdata":"","totalrecords":0.0e5}`, "", 0},
		"greatest count":        {`{"reportdata":"","totalrecords":9223372036854775807}`, "", 1<<63 - 1},
		"count at the very end": {`{"reportdata":"x","totalrecords":7}`, "x", 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []int{1, 2, 3, 5, 11, 1000} {
				for _, out := range []int{1, 3, 4, 7, 64} {
					text, d, err := decodeReport(test.body, in, out)
					require.NoError(t, err, "chunks of %d and %d", in, out)
					require.Equal(t, test.text, text, "chunks of %d and %d", in, out)
					total, ok := d.Total()
					require.True(t, ok)
					require.Equal(t, test.total, total)
				}
			}
			for _, src := range []io.Reader{
				iotest.OneByteReader(strings.NewReader(test.body)),
				iotest.HalfReader(strings.NewReader(test.body)),
				iotest.DataErrReader(strings.NewReader(test.body)),
			} {
				text, err := io.ReadAll(NewDecoder(src))
				require.NoError(t, err)
				require.Equal(t, test.text, string(text))
			}
		})
	}
}

func TestReportDecoderRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	tests := map[string]struct {
		body, rule string
		offset     int64
	}{
		"null":                {`null`, "a report must be a JSON object", 4},
		"array":               {`["x",1]`, "a report must be a JSON object", 1},
		"page of a proxy":     {`<html>busy</html>`, "invalid JSON", 0},
		"empty object":        {`{}`, "reportdata: missing", 2},
		"no text":             {`{"totalrecords":1}`, "reportdata: missing", 18},
		"no count":            {`{"reportdata":"x"}`, "totalrecords: missing", 18},
		"text null":           {`{"reportdata":null,"totalrecords":1}`, "reportdata: must be a string", 13},
		"text number":         {`{"reportdata":1,"totalrecords":1}`, "reportdata: must be a string", 13},
		"text array":          {`{"reportdata":["x"],"totalrecords":1}`, "reportdata: must be a string", 13},
		"two texts":           {`{"reportdata":"x","reportdata":"x","totalrecords":1}`, "reportdata: more than one", 30},
		"two counts":          {`{"totalrecords":1,"totalrecords":1,"reportdata":"x"}`, "totalrecords: more than one", 32},
		"count null":          {`{"reportdata":"x","totalrecords":null}`, "totalrecords: must be a whole number of 0 or more", 37},
		"count true":          {`{"reportdata":"x","totalrecords":true}`, "totalrecords: must be a whole number of 0 or more", 37},
		"count object":        {`{"reportdata":"x","totalrecords":{}}`, "totalrecords: must be a whole number of 0 or more", 34},
		"count negative":      {`{"reportdata":"x","totalrecords":-1}`, "totalrecords: must be a whole number of 0 or more", 35},
		"count broken":        {`{"reportdata":"x","totalrecords":1.5}`, "totalrecords: must be a whole number of 0 or more", 36},
		"count shrunk":        {`{"reportdata":"x","totalrecords":12e-1}`, "totalrecords: must be a whole number of 0 or more", 38},
		"count too great":     {`{"reportdata":"x","totalrecords":9223372036854775808}`, "totalrecords: must be a whole number of 0 or more", 52},
		"count far too great": {`{"reportdata":"x","totalrecords":1e999999999}`, "totalrecords: must be a whole number of 0 or more", 44},
		"count too long":      {`{"reportdata":"x","totalrecords":1.` + strings.Repeat("0", 64) + `}`, "totalrecords: must be a whole number of 0 or more", 99},
		"count word":          {`{"reportdata":"x","totalrecords":"many"}`, "totalrecords: must be a whole number of 0 or more", 39},
		"count empty":         {`{"reportdata":"x","totalrecords":""}`, "totalrecords: must be a whole number of 0 or more", 35},
		"count padded":        {`{"reportdata":"x","totalrecords":"012"}`, "totalrecords: must be a whole number of 0 or more", 38},
		"count without end":   {`{"reportdata":"x","totalrecords":"1."}`, "totalrecords: must be a whole number of 0 or more", 37},
		"count with zero":     {`{"reportdata":"x","totalrecords":01}`, "invalid JSON", 34},
		"count without digit": {`{"reportdata":"x","totalrecords":-}`, "invalid JSON", 34},
		"control character":   {"{\"reportdata\":\"a\nb\",\"totalrecords\":1}", "control character in a string", 16},
		"nul":                 {"{\"reportdata\":\"abcdefgh\x00\",\"totalrecords\":1}", "control character in a string", 23},
		"unknown escape":      {`{"reportdata":"a\'","totalrecords":1}`, "unknown escape in a string", 16},
		"short hex":           {`{"reportdata":"\u12G4","totalrecords":1}`, "invalid escape in a string", 15},
		"bad second half":     {`{"reportdata":"\ud83d\u12G4","totalrecords":1}`, "invalid escape in a string", 15},
		"high surrogate":      {`{"reportdata":"\ud83dx","totalrecords":1}`, "invalid escape in a string", 15},
		"low surrogate":       {`{"reportdata":"\ude00x","totalrecords":1}`, "invalid escape in a string", 15},
		"two high":            {`{"reportdata":"\ud83d\ud83d\ude00","totalrecords":1}`, "invalid escape in a string", 15},
		"high, then letter":   {`{"reportdata":"\ud83d\u0041","totalrecords":1}`, "invalid escape in a string", 15},
		"high at the end":     {`{"reportdata":"\ud83d","totalrecords":1}`, "invalid escape in a string", 15},
		"high, newline":       {`{"reportdata":"\ud83d\n","totalrecords":1}`, "invalid escape in a string", 15},
		"bad utf-8":           {"{\"reportdata\":\"a\xffb\xc3\",\"totalrecords\":1}", "invalid UTF-8 in a string", 16},
		"overlong rune":       {"{\"reportdata\":\"\xc0\x80\xc1\xbf\",\"totalrecords\":1}", "invalid UTF-8 in a string", 15},
		"cut-off rune":        {"{\"reportdata\":\"\xe2\x82\",\"totalrecords\":1}", "invalid UTF-8 in a string", 15},
		"surrogate in utf-8":  {"{\"reportdata\":\"\xed\xa0\x80\",\"totalrecords\":1}", "invalid UTF-8 in a string", 15},
		"trailing data":       {`{"reportdata":"x","totalrecords":1} {}`, "data after the report", 37},
		"trailing comma":      {`{"reportdata":"x","totalrecords":1,}`, "invalid JSON", 34},
		"no comma":            {`{"reportdata":"x" "totalrecords":1}`, "invalid JSON", 18},
		"no colon":            {`{"reportdata" "x","totalrecords":1}`, "invalid JSON", 14},
		"name without quotes": {`{reportdata:"x"}`, "invalid JSON", 1},
		"too deep":            {`{"a":` + deep + `,"reportdata":"x","totalrecords":1}`, "invalid JSON", 4 + maxDepth},
		"unknown word":        {`{"a":nul,"reportdata":"x","totalrecords":1}`, "invalid JSON", 8},
		"unknown number":      {`{"a":1.,"reportdata":"x","totalrecords":1}`, "invalid JSON", 7},
		"unknown array":       {`{"a":[1 2],"reportdata":"x","totalrecords":1}`, "invalid JSON", 8},
		"unknown array end":   {`{"a":[1},"reportdata":"x","totalrecords":1}`, "invalid JSON", 7},
		"unknown array comma": {`{"a":[1,],"reportdata":"x","totalrecords":1}`, "invalid JSON", 7},
		"unknown object":      {`{"a":{"b" 1},"reportdata":"x","totalrecords":1}`, "invalid JSON", 10},
		"unknown nothing":     {`{"a":,"reportdata":"x","totalrecords":1}`, "invalid JSON", 5},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []int{1, 2, 3, 5, 11, 1000} {
				_, d, err := decodeReport(test.body, in, 5)
				malformed, ok := errors.AsType[*Malformed](err)
				require.True(t, ok, "%v", err)
				require.ErrorContains(t, malformed.Err, test.rule)
				require.Equal(t, test.offset, malformed.Offset)
				require.EqualError(t, err, fmt.Sprintf("malformed report at byte %d: %v", test.offset, malformed.Err))
				n, again := d.Read(make([]byte, 8))
				require.Zero(t, n)
				require.Equal(t, err, again, "the error stays")
			}
		})
	}
}

func TestReportDecoderTruncated(t *testing.T) {
	t.Parallel()
	const body = `{"a":[1,{"b":"\u00e9"}],"reportdata":"x,\"é\ud83d\ude00\"\r\n","c":-1.5e3,"totalrecords":1}`
	for end := range len(body) {
		for _, in := range []int{1, 3, 1000} {
			_, _, err := decodeReport(body[:end], in, 4)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut at %d", end)
			malformed, ok := errors.AsType[*Malformed](err)
			require.True(t, ok)
			require.Equal(t, int64(end), malformed.Offset)
		}
	}
	_, _, err := decodeReport(body, 3, 4)
	require.NoError(t, err)
}

func TestReportDecoderSourceFails(t *testing.T) {
	t.Parallel()
	const body = `{"reportdata":"abc","totalrecords":1}  `
	broken := errors.New("connection reset")
	for end := range len(body) + 1 {
		src := io.MultiReader(strings.NewReader(body[:end]), iotest.ErrReader(broken))
		_, err := io.ReadAll(NewDecoder(src))
		require.ErrorIs(t, err, broken, "broken at %d", end)
	}
	text, err := io.ReadAll(NewDecoder(io.MultiReader(
		strings.NewReader(body[:17]), iotest.ErrReader(io.ErrUnexpectedEOF))))
	require.Equal(t, "ab", string(text), "what was read before is returned")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)

	_, err = io.ReadAll(NewDecoder(stuckReader{}))
	require.ErrorIs(t, err, io.ErrNoProgress)
}

func TestReportDecoderReadsNothingIntoNothing(t *testing.T) {
	t.Parallel()
	d := NewDecoder(strings.NewReader(`{"reportdata":"x","totalrecords":1}`))
	n, err := d.Read(nil)
	require.NoError(t, err)
	require.Zero(t, n)
	text, err := io.ReadAll(d)
	require.NoError(t, err)
	require.Equal(t, "x", string(text))
}

// Values of any length are bounded in memory: strings are read in parts, other values have a limit.
func TestReportDecoderLongValues(t *testing.T) {
	t.Parallel()
	const end = `,"reportdata":"x","totalrecords":1}`
	for name, test := range map[string]struct {
		start, fill string
		limited     bool
	}{
		"string":      {`{"a":["`, `\u0061\n`, false},
		"name":        {`{"a":{"`, "é", false},
		"number":      {`{"a":[1`, "00000000", true},
		"white space": {`{"a":[`, " \n", true},
		"at once":     {``, "\t", true},
	} {
		src := io.MultiReader(strings.NewReader(test.start), io.LimitReader(repeated(test.fill), 1<<20))
		if !test.limited {
			closing := map[string]string{"string": `"]`, "name": `":1}`}[name]
			text, err := io.ReadAll(NewDecoder(io.MultiReader(src, strings.NewReader(closing+end))))
			require.NoError(t, err, name)
			require.Equal(t, "x", string(text))
			continue
		}
		_, err := io.ReadAll(NewDecoder(src))
		malformed, ok := errors.AsType[*Malformed](err)
		require.True(t, ok, name)
		require.EqualError(t, malformed.Err, "a value longer than 64 KiB")
		require.InDelta(t, len(test.start)+maxScalar, malformed.Offset, 1)
	}
}

// repeated repeats a text without end.
type repeated string

func (r repeated) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(string(r), max(1, min(len(p), 4096)/len(r)))), nil
}

// reportMembers walks a JSON document: the values of the top-level members, and the greatest depth.
func reportMembers(t *testing.T, body []byte) (members map[string][]json.RawMessage, depth int) {
	members = map[string][]json.RawMessage{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, 0
	}
	for decoder.More() {
		name, err := decoder.Token()
		require.NoError(t, err)
		var value json.RawMessage
		require.NoError(t, decoder.Decode(&value))
		for _, known := range []string{memberData, memberTotal} {
			if strings.EqualFold(name.(string), known) {
				name = known
			}
		}
		members[name.(string)] = append(members[name.(string)], value)
		level := 1
		inner := json.NewDecoder(bytes.NewReader(value))
		for {
			token, err := inner.Token()
			if err != nil {
				break
			}
			switch token {
			case json.Delim('{'), json.Delim('['):
				level++
			case json.Delim('}'), json.Delim(']'):
				level--
			}
			depth = max(depth, level)
		}
	}
	return members, depth
}

func FuzzReportDecoder(f *testing.F) {
	for _, body := range []string{
		`{"reportdata":"a,b\r\n\"c\"\n","totalrecords":2}`,
		`{"totalrecords":"12","x":[1,{"y":null}],"reportdata":"\ud83d\ude00\ud83dé"}`,
		"{\"reportdata\":\"\xff\xe2\x82 \\u0000\\/\",\"totalrecords\":1.0e1}",
		`{"ReportData":"x","TotalRecords":-0,"z":-0.5E-7,"w":true}`,
		`{"reportdata":"x","reportdata":"y","totalrecords":1}`,
		`{"reportdata":null,"totalrecords":1}`, `{}`, `[]`, ``, `{"a":[[[]]]} x`,
	} {
		f.Add([]byte(body), uint8(3), uint8(5))
	}
	f.Fuzz(func(t *testing.T, body []byte, in, out uint8) {
		text, d, err := decodeReport(string(body), int(in)+1, int(out)+1)
		if !json.Valid(body) {
			require.Error(t, err, "not JSON")
			return
		}
		members, depth := reportMembers(t, body)
		data, total := members[memberData], members[memberTotal]
		if len(data) != 1 || len(total) != 1 || data[0][0] != '"' || depth > maxDepth {
			require.Error(t, err, "not a report")
			return
		}
		written := string(total[0])
		if written[0] == '"' {
			require.NoError(t, json.Unmarshal(total[0], &written))
		}
		count, ok := countOf(written)
		if !ok {
			require.Error(t, err, "not a count")
			return
		}
		if !jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)) {
			require.Error(t, err, "not Unicode")
			return
		}
		require.NoError(t, err)
		var want string
		require.NoError(t, json.Unmarshal(data[0], &want))
		require.Equal(t, want, text)
		require.Equal(t, count, d.total)
	})
}
