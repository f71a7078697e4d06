package main

import (
	"context"
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

type things struct{}

type thing struct {
	Kind  string `json:"kind"`
	Alias string `json:"alias,omitzero" redact:"personal"`
}

// Do has inputs and results like a method of a client's services.
func (things) Do(context.Context, struct {
	NickName string `redact:"personal"`
}) (*struct {
	Whole *thing `json:"whole"`
	Other []struct {
		Note string `json:"note" redact:"content"`
	} `json:"other"`
}, error) {
	return nil, nil
}

// A new tag hides its member: there is no list to update.
func TestATagIsEnoughToHideAMember(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]string{"alias": "personal", "nick_name": "personal", "whole": "personal", "note": "content"},
		personal.MarksOf(reflect.TypeFor[struct{ Things things }]()))
}

// Every tagged type of the client is reachable from its methods.
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
			if mark := tag.Get("redact"); mark != "" && name != "" {
				require.Equal(t, mark, personal.Marks()[name], "%s: %s", file, name)
				tags++
			}
			return true
		})
	}
	require.Positive(t, tags)
	require.True(t, personal.Hidden("registration"), "so that no misspelled member of it is shown")
}
