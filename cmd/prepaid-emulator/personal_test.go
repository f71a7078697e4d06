package main

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
)

// A new mark hides its member: there is no list to update.
func TestMarkIsEnoughToHideMember(t *testing.T) {
	t.Parallel()
	document, err := personal.Decode(`{"components":{"schemas":{"Whole":{"properties":{"alias":{"x-redact":"personal"},"kind":{}}},"Hook":{"properties":{"uri":{"x-redact":"user"}}}}},
		"paths":{"/a":{"get":{"parameters":[{"name":"nick_name","x-redact":"personal"},{"name":"page"}],"body":{"properties":{"whole":{"$ref":"#/components/schemas/Whole"},"hook":{"$ref":"#/components/schemas/Hook"}}}}}}}`)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"alias": "personal", "nick_name": "personal", "whole": "personal", "uri": "user"}, personal.MarksOf(document))
}

// Each member that the client redacts is hidden.
func TestEachTagOfTheClientHides(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../*.go")
	require.NoError(t, err)
	tags := 0
	for _, file := range slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			field, is := node.(*ast.Field)
			if !is || field.Tag == nil {
				return true
			}
			text, err := strconv.Unquote(field.Tag.Value)
			require.NoError(t, err)
			tag := reflect.StructTag(text)
			name, _, _ := strings.Cut(tag.Get("json"), ",")
			if mark := tag.Get("redact"); (mark == "personal" || mark == "content") && name != "" && tag.Get("wire") == "" { // a member of the wire
				require.True(t, personal.Hidden(name), "%s: %s", file, name)
				tags++
			}
			return true
		})
	}
	require.Positive(t, tags)
	for _, object := range []string{"registration", "portal_identifier", "device"} {
		require.True(t, personal.Hidden(object), "so that no misspelled member of it is shown")
	}
	require.Equal(t, "user", personal.Marks()["uri"])
}
