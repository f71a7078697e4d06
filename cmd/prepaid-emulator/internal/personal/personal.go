// Package personal finds the members and parameters that hold personal data or secrets, which the page does not show.
package personal

import (
	"encoding/json"
	"path"
	"strings"
	"sync"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// Marks returns the member x-redact of the published document, by the name of the member or parameter. The place of
// the member does not matter, because a program with a bug sends members in wrong places too.
func Marks() map[string]string { return marks() }

var marks = sync.OnceValue(func() map[string]string {
	document, _ := Decode(string(prepaidtest.OpenAPI())) // a constant
	found := MarksOf(document)
	found["portal_identifier"] = "personal" // to the client: its unlisted members are
	return found
})

// Hidden reports whether the value of a member or parameter must not be shown.
func Hidden(name string) bool { return marks()[name] == "personal" || marks()[name] == "secret" }

// Decode decodes JSON, with numbers as they are written.
func Decode(text string) (value any, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// Replace replaces the members of all objects in decoded JSON. If member returns false, Replace descends into the value.
func Replace(value any, member func(name string, value any) (with any, replaced bool)) any {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			with, replaced := member(name, inner)
			if !replaced {
				with = Replace(inner, member)
			}
			value[name] = with
		}
	case []any:
		for i, element := range value {
			value[i] = Replace(element, member)
		}
	}
	return value
}

// MarksOf reads the marks of an OpenAPI document. An object with a hidden member is hidden, so that misspelled members are not shown.
func MarksOf(document any) map[string]string {
	found := make(map[string]string)
	root, _ := document.(map[string]any)
	components, _ := root["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	var mark func(schema any) string
	mark = func(schema any) string {
		members, _ := schema.(map[string]any)
		if reference, is := members["$ref"].(string); is {
			return mark(schemas[path.Base(reference)])
		}
		if own, is := members["x-redact"].(string); is {
			return own
		}
		properties, _ := members["properties"].(map[string]any)
		for _, inner := range properties {
			if own := mark(inner); own == "personal" || own == "secret" {
				return "personal"
			}
		}
		return ""
	}
	Replace(document, func(name string, value any) (any, bool) {
		members, _ := value.(map[string]any)
		if name == "properties" {
			for name, schema := range members {
				if own := mark(schema); own != "" {
					found[name] = own
				}
			}
		}
		list, _ := value.([]any) // of parameters
		for _, one := range list {
			parameter, _ := one.(map[string]any)
			named, _ := parameter["name"].(string)
			if own := mark(parameter); own != "" && named != "" {
				found[named] = own
			}
		}
		return nil, false
	})
	return found
}
