package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const golden = `// Code generated from struct tags by internal/wiregen. DO NOT EDIT.

package small

import "github.com/cardprograms/prepaid/internal/wire"

func (v *Thing) readWire(r *wire.Reader) {
	v.startUnset()
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "id":
			wire.Text((*string)(&v.ID), r)
		case "note":
			wire.Text(&v.Note, r)
		case "count":
			wire.Integer(&v.Count, r)
		case "at":
			wire.Time(&v.At, r)
		case "raw":
			wire.Raw(&v.Raw, r)
		case "amount":
			v.Amount.readWire(r)
		case "sure":
			wire.Optional(&v.Sure, r, wire.Bool)
		case "owner":
			wire.Optional(&v.Owner, r, (*Owner).readWire)
		case "main":
			wire.Struct(&v.Main, r, (*Owner).readWire)
		case "all":
			wire.List(&v.All, r, (*Owner).readWire)
		case "counts":
			wire.List(&v.Counts, r, wire.Integer)
		}
	}
}

func (v *Owner) readWire(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "name":
			wire.Text(&v.Name, r)
		}
	}
}

func (v Params) writeWire(w *wire.Writer) {
	w.Begin()
	w.Text("id", string(v.ID))
	w.Integer("count", int64(v.Count))
	w.Name("amount")
	v.Amount.writeWire(w)
	w.Name("owner")
	v.Owner.writeWire(w)
	if v.Note != "" {
		w.Text("note", v.Note)
	}
	w.End()
}

func (v Owner) writeWire(w *wire.Writer) {
	w.Begin()
	w.Text("name", v.Name)
	w.End()
}
`

const source = `package small

import "time"

var (
	_ = []wireReadable{(*Thing)(nil)}
	_ = []wireWritable{Params{}}
)

type ID string
type Count int64
type Amount struct{ digits string }

func (a *Amount) readWire(r *wire.Reader) {}
func (a Amount) writeWire(w *wire.Writer) {}
func (t *Thing) startUnset()              {}

type Thing struct {
	ID     ID             ` + "`json:\"id\"`" + `
	Note   string         ` + "`json:\"note,omitzero\"`" + `
	Count  Count          ` + "`json:\"count\"`" + `
	At     time.Time      ` + "`json:\"at\"`" + `
	Raw    jsontext.Value ` + "`json:\"raw\"`" + `
	Amount Amount         ` + "`json:\"amount\"`" + `
	Sure   *bool          ` + "`json:\"sure\"`" + `
	Owner  *Owner         ` + "`json:\"owner\"`" + `
	Main   Owner          ` + "`json:\"main\"`" + `
	All    []Owner        ` + "`json:\"all\"`" + `
	Counts []Count        ` + "`json:\"counts\"`" + `
	Local  string         ` + "`json:\"-\"`" + `
	kept   string
}

type Owner struct {
	Name string ` + "`json:\"name\"`" + `
}

type Params struct {
	ID     ID     ` + "`json:\"id\"`" + `
	Count  Count  ` + "`json:\"count\"`" + `
	Amount Amount ` + "`json:\"amount\"`" + `
	Owner  Owner  ` + "`json:\"owner\"`" + `
	Note   string ` + "`json:\"note,omitzero\"`" + `
}
`

func generateFrom(t *testing.T, source string) (string, error) {
	t.Helper()
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "small.go"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(directory, output), []byte("package small; not Go"), 0o600)) // is not read
	var out bytes.Buffer
	err := run(directory, false, &out)
	if err != nil {
		return "", err
	}
	require.NoError(t, run(directory, true, nil))
	written, err := os.ReadFile(filepath.Join(directory, output))
	require.NoError(t, err)
	require.Equal(t, out.String(), string(written))
	return out.String(), nil
}

func TestGolden(t *testing.T) {
	t.Parallel()
	got, err := generateFrom(t, source)
	require.NoError(t, err)
	require.Equal(t, golden, got)
}

// What the generator is not sure of it refuses, by the name of the field.
func TestRefuses(t *testing.T) {
	t.Parallel()
	const read = "package small\nvar _ = []wireReadable{(*Thing)(nil)}\n"
	field := func(declaration string) string {
		return read + "type Thing struct {\nID " + declaration + "\n}\n"
	}
	const tag = " `json:\"id\"`"
	for source, want := range map[string]string{
		"package small\n":            "no list of types",
		read:                         "Thing is not a struct of this package",
		read + "type Thing string\n": "Thing is not a struct of this package",
		read + "type Thing struct{}\nfunc (t *Thing) readWire() {}\n": "Thing has its own readWire",
		read + "type Thing struct{ time.Time }\n":                     "embedded",
		read + "type Thing struct{ A, B string }\n":                   "shares its type",
		field("string"):                            "Thing.ID: unknown tag",
		field("string `json:\"id,string\"`"):       "Thing.ID: unknown tag",
		field("float64" + tag):                     "Thing.ID: no rule for the type float64",
		field("map[string]string" + tag):           "Thing.ID: no rule for the type map[string]string",
		field("**string" + tag):                    "Thing.ID: no rule for the type *string",
		field("[2]string" + tag):                   "Thing.ID: no rule for an array",
		field("url.URL" + tag):                     "Thing.ID: no rule for the type url.URL",
		field("[]Word"+tag) + "type Word string\n": "Thing.ID: no rule for a list of, or a pointer to, Word",
		field("Word"+tag) + "type Word string\nfunc (w *Word) UnmarshalJSON() {}\n":                 "Thing.ID: Word has its own form in JSON, and no readWire",
		"package small\nvar _ = []wireWritable{Thing{}}\ntype Thing struct{ ID bool" + tag + " }\n": "Thing.ID: no rule for writing it",
		"package small\nfunc": "expected",
	} {
		_, err := generateFrom(t, source)
		require.ErrorContains(t, err, want, source)
	}
}

// The file that the client has is what would be made now.
func TestClientIsFresh(t *testing.T) {
	t.Parallel()
	const client = "../.."
	var out bytes.Buffer
	require.NoError(t, run(client, false, &out))
	written, err := os.ReadFile(filepath.Join(client, output))
	require.NoError(t, err)
	require.Equal(t, string(written), out.String(), "stale: run go generate")
}
