package prepaid

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const canary = "s3cr3t-c4n4ry"

// vault holds secrets in every way that a caller's struct may.
type vault struct {
	Public   Secret
	Pointer  *Secret
	List     []Secret
	Map      map[string]Secret
	Any      any
	private  Secret
	pointer  *Secret
	list     []Secret
	nested   struct{ deep Secret }
	embedded struct{ Secret }
}

func newVault(value string) vault {
	s := NewSecret(value)
	v := vault{
		Public: s, Pointer: &s, List: []Secret{s}, Map: map[string]Secret{"k": s}, Any: s,
		private: s, pointer: &s, list: []Secret{s},
	}
	v.nested.deep = s
	v.embedded.Secret = s
	return v
}

// requireNoCanary fails when out shows the secret, plainly or in a form that dumpers use.
func requireNoCanary(t *testing.T, what, out string) {
	t.Helper()
	for _, form := range []string{
		canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprintf("% x", canary),
		strings.Trim(fmt.Sprint([]byte(canary)), "[]"),
	} {
		require.NotContains(t, out, form, what)
	}
}

func TestSecretNeverPrints(t *testing.T) {
	t.Parallel()
	s, v := NewSecret(canary), newVault(canary)
	values := map[string]any{
		"secret": s, "pointer": &s, "vault": v, "vault pointer": &v, "list": []Secret{s}, "any": []any{s, &s},
		"map": map[string]Secret{"k": s}, "error": fmt.Errorf("failed: %v", s), "joined": errors.Join(fmt.Errorf("%#v", v)),
	}
	for name, value := range values {
		for verb := range strings.SplitSeq("v +v #v s q x X d p t T U c b o e g 10s -20v .3s 010d +q #x w", " ") {
			requireNoCanary(t, name+" %"+verb, fmt.Sprintf("%"+verb, value)+fmt.Errorf("%"+verb, value).Error())
		}
		requireNoCanary(t, name+" Print", fmt.Sprint(value)+fmt.Sprintln(value))

		var out bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(handler).Info("m", "value", value, slog.Group("g", "value", value))
		}
		require.NoError(t, template.Must(template.New("").Parse(`{{.}} {{printf "%v" .}}`)).Execute(&out, value))
		requireNoCanary(t, name, out.String())

		for _, lib := range jsonLibraries() {
			data, err := lib.marshal(value)
			requireNoCanary(t, name+" json "+lib.name, fmt.Sprintf("%s %v", data, err))
		}
		data, err := xml.Marshal(value)
		requireNoCanary(t, name+" xml", fmt.Sprintf("%s %v", data, err))
		var binary bytes.Buffer
		err = gob.NewEncoder(&binary).Encode(value)
		requireNoCanary(t, name+" gob", fmt.Sprintf("%s %v", binary.String(), err))
	}
}

func TestSecretFormat(t *testing.T) {
	t.Parallel()
	for _, s := range []Secret{{}, NewSecret(""), NewSecret("x"), NewSecret(canary)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%30s"} {
			require.Equal(t, "[REDACTED]", fmt.Sprintf(verb, s))
			require.Equal(t, "[REDACTED]", fmt.Sprintf(verb, &s))
		}
		require.Equal(t, "[REDACTED]", s.LogValue().String())
		text, err := s.MarshalText()
		require.NoError(t, err)
		require.Equal(t, "[REDACTED]", string(text))
	}
	require.Equal(t, "{[REDACTED]}", fmt.Sprint(struct{ S Secret }{NewSecret(canary)}))
}

// recorder is a TestingT that keeps the output of a failed assertion.
type recorder struct{ strings.Builder }

func (r *recorder) Errorf(format string, args ...any) { fmt.Fprintf(r, format, args...) }

func TestSecretNotInAssertionFailures(t *testing.T) {
	t.Parallel()
	a, b := newVault(canary), newVault(canary+"2")
	var r recorder
	for name, failed := range map[string]bool{
		"Equal":         assert.Equal(&r, a, b),
		"pointers":      assert.Equal(&r, &a, &b),
		"secrets":       assert.Equal(&r, a.Public, b.Public),
		"Nil":           assert.Nil(&r, a.Pointer),
		"Empty":         assert.Empty(&r, a),
		"Zero":          assert.Zero(&r, a.Public),
		"Contains":      assert.Contains(&r, a.Map, "other"),
		"ElementsMatch": assert.ElementsMatch(&r, a.List, b.List),
		"Len":           assert.Len(&r, a.List, 7),
		"IsType":        assert.IsType(&r, 1, a),
	} {
		require.False(t, failed, name)
	}
	require.Contains(t, r.String(), "Diff:")
	requireNoCanary(t, "testify", r.String())
}

func TestSecretReveal(t *testing.T) {
	t.Parallel()
	require.Equal(t, canary, NewSecret(canary).Reveal())
	require.False(t, NewSecret(canary).IsZero())
	require.False(t, NewSecret(" ").IsZero())
	for _, empty := range []Secret{{}, NewSecret("")} {
		require.Empty(t, empty.Reveal())
		require.True(t, empty.IsZero())
	}
}

func TestSecretEqual(t *testing.T) {
	t.Parallel()
	values := []string{"", "a", "b", "ab", canary, canary + "2", "\x00", strings.Repeat("x", 5000)}
	for i, a := range values {
		for j, b := range values {
			require.Equal(t, i == j, NewSecret(a).Equal(NewSecret(b)), "%d %d", i, j)
		}
	}
	require.True(t, Secret{}.Equal(NewSecret("")))
}

func TestSecretMarshalling(t *testing.T) {
	t.Parallel()
	type config struct {
		ID       string  `json:"id"`
		Secret   Secret  `json:"secret"`
		Optional Secret  `json:"optional,omitzero"`
		Pointer  *Secret `json:"pointer,omitzero"`
	}
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		var c config
		in := `{"id":"a","secret":"s3cr3t-c4n4ry","pointer":"p"}`
		require.NoError(t, lib.unmarshal([]byte(in), &c))
		require.Equal(t, canary, c.Secret.Reveal())
		require.Equal(t, "p", c.Pointer.Reveal())
		require.True(t, c.Optional.IsZero())

		out, err := lib.marshal(c)
		require.NoError(t, err)
		require.Equal(t, `{"id":"a","secret":"[REDACTED]","pointer":"[REDACTED]"}`, string(out))
		require.ErrorIs(t, lib.unmarshal(out, &c), errRedactedSecret)
		require.Equal(t, canary, c.Secret.Reveal(), "a refused text changes nothing")

		out, err = lib.marshal(map[string]Secret{"k": {}})
		require.NoError(t, err)
		require.Equal(t, `{"k":"[REDACTED]"}`, string(out))

		require.NoError(t, lib.unmarshal([]byte(`{"secret":"","optional":null}`), &c))
		require.True(t, c.Secret.IsZero())
		for _, bad := range []string{`{"secret":7777}`, `{"secret":true}`, `{"secret":["s3cr3t-c4n4ry"]}`, `{"secret":{"a":"s3cr3t-c4n4ry"}}`} {
			err := lib.unmarshal([]byte(bad), &c)
			require.Error(t, err)
			requireNoCanary(t, bad, err.Error())
			require.NotContains(t, err.Error(), "7777")
		}
	})
	var s Secret
	require.ErrorIs(t, s.UnmarshalText([]byte("[REDACTED]")), errRedactedSecret)
	require.NoError(t, s.UnmarshalText([]byte("[REDACTED] ")))
	text := []byte("abc")
	require.NoError(t, s.UnmarshalText(text))
	text[0] = 'x' // the decoder's buffer is not kept
	require.Equal(t, "abc", s.Reveal())
	require.NoError(t, s.UnmarshalText(nil))
	require.True(t, s.IsZero())

	var fromXML struct{ S Secret }
	require.NoError(t, xml.Unmarshal([]byte(`<c><S>abc</S></c>`), &fromXML))
	require.Equal(t, "abc", fromXML.S.Reveal())
	_, err := json.Marshal(newVault(canary))
	require.NoError(t, err)
}
