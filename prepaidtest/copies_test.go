package prepaidtest

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/reference"
)

// fill sets every field to a different value.
func fill(v reflect.Value, n *int) {
	switch v.Kind() {
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*time.Time); ok {
			*n++
			*at = time.Date(2030, 1, 1, 0, 0, *n, 0, time.UTC)
			return
		}
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		*n++
		v.SetInt(int64(*n))
	default:
		*n++
		v.SetString(fmt.Sprint("value ", *n))
	}
}

// With shared types that have a meaning, client and emulator could share a bug. IDs have none: no code interprets them.
func TestOnlyIDsAreShared(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	types, err := filepath.Glob("state/*.go")
	require.NoError(t, err)
	shared := make(map[string]bool)
	for _, name := range append(files, types...) {
		if name == "client.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if from, ok := s.X.(*ast.Ident); ok && from.Name == "prepaid" {
					shared[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	require.Equal(t, map[string]bool{
		"AccountID": true, "CompanyID": true, "HookID": true, "MessageID": true, "RequestID": true, "TransactionID": true,
	}, shared)
}

// Every member of state.Account can be seeded, inspected, saved and restored, and a test that changes its copy changes no server.
func TestEveryMemberOfAnAccount(t *testing.T) {
	t.Parallel()
	made := func(n int) SeedAccount {
		var seed SeedAccount
		fill(reflect.ValueOf(&seed).Elem(), &n)
		seed.CompanyID, seed.Status, seed.Balance = DefaultCompany, "active", "12.50"
		return seed
	}
	want, seed := made(0), made(0)
	c := start(t, Options{})
	id := c.AddAccount(seed)
	other := 100
	fill(reflect.ValueOf(&seed).Elem(), &other)
	got := c.Account(id).Account
	require.Equal(t, want, got)
	fill(reflect.ValueOf(&got).Elem(), &other)
	require.Equal(t, want, c.Account(id).Account)

	var saved bytes.Buffer
	require.NoError(t, c.Save(&saved))
	require.Equal(t, want, start(t, Options{State: &saved}).Account(id).Account)

	c.unchecked = true // its values have no forms of the reference
	// A response has every member.
	query := url.Values{}
	account, _ := reference.Read().Schemas.Get("Account")
	for _, member := range account.Properties {
		query.Set(cmp.Or(member.Value.Include, "with_personal"), "1")
	}
	response := c.get("accounts/" + id + "?" + query.Encode()).ok().object()
	for _, member := range account.Properties {
		require.Contains(t, response, member.Name, "a field of state.Account, or a value of the emulator's")
	}
}
