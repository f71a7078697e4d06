package gotest

import (
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// literal is the Go expression for a value of prepaid or prepaidtest, without zero fields.
func literal(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case prepaid.Amount:
		return fmt.Sprintf("prepaid.MustAmount(%q)", value.String())
	case prepaid.Secret:
		return fmt.Sprintf("prepaid.NewSecret(%q)", value.Reveal())
	case prepaid.EphemeralKey:
		return "prepaid.NewEphemeralKey()"
	case time.Time:
		return fmt.Sprintf("time.Date(%d, %d, %d, %d, %d, %d, 0, time.UTC)", value.Year(), value.Month(), value.Day(), value.Hour(), value.Minute(), value.Second())
	}
	switch v.Kind() {
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int64, reflect.Int32:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Pointer:
		if v.Elem().Kind() == reflect.Struct {
			return "&" + literal(v.Elem())
		}
		return "new(" + typed(v.Elem()) + ")"
	case reflect.Slice:
		var elements []string
		for i := range v.Len() {
			elements = append(elements, strings.TrimPrefix(literal(v.Index(i)), typeName(v.Type().Elem())))
		}
		return typeName(v.Type()) + "{" + strings.Join(elements, ", ") + "}"
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && !v.Field(i).IsZero() {
				fields = append(fields, field.Name+": "+literal(v.Field(i)))
			}
		}
		if len(fields) < 3 {
			return typeName(v.Type()) + "{" + strings.Join(fields, ", ") + "}"
		}
		return typeName(v.Type()) + "{\n" + strings.Join(fields, ",\n") + ",\n}" // each on its own line
	}
	return typeName(v.Type()) + "{}"
}

// typed is a literal with its type, where no context implies it.
func typed(v reflect.Value) string {
	if v.Type().PkgPath() == "" {
		return literal(v)
	}
	return typeName(v.Type()) + "(" + literal(v) + ")"
}

func typeName(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Slice:
		return "[]" + typeName(t.Elem())
	case t.Kind() == reflect.Pointer:
		return "*" + typeName(t.Elem())
	case t.PkgPath() == "":
		return t.Name()
	}
	return path.Base(t.PkgPath()) + "." + strings.ReplaceAll(t.Name(), path.Dir(t.PkgPath())+"/", "") // type arguments have paths
}
