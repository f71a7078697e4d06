package prepaid

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MarshalJSON writes the fields that hold data: durations as text such as "30s", the secret as [REDACTED].
func (c Config) MarshalJSON() ([]byte, error) {
	type plain Config
	return json.Marshal(plain(c), json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, d time.Duration) error {
		return e.WriteToken(jsontext.String(d.String()))
	})))
}

// UnmarshalJSON reads the fields that are there and leaves the others as they are. A member that is no field is
// refused, since a setting with a typing error in its name would be no setting. Give a Config that stands in a struct
// of your own a field name: embedded, this method would read the whole struct.
//
// Errors: a *[ValidationError] that names the member and the rule, never the value; [ErrRedactedSecret].
func (c *Config) UnmarshalJSON(data []byte) error {
	type plain Config
	read := *c
	err := json.Unmarshal(data, (*plain)(&read), json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(readDuration)))
	if err != nil {
		return configFault(err)
	}
	*c = read
	return nil
}

func readDuration(d *jsontext.Decoder, to *time.Duration) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case 'n':
		*to = 0
		return nil
	case '"':
		*to, err = time.ParseDuration(token.String())
		return err
	}
	return errors.New("not a text")
}

// configFault says which member could not be read and why, without its value.
func configFault(err error) error {
	fault := Fault{Field: "config", Rule: "must be a JSON object"}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(wrong, jsontext.ErrDuplicateName) {
		fault = Fault{Field: fieldAt(wrong.JSONPointer), Rule: "must be there once"}
	} else if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		fault.Field = fieldAt(wrong.JSONPointer)
		switch {
		case errors.Is(err, ErrRedactedSecret):
			return fmt.Errorf("%s: %w", fault.Field, ErrRedactedSecret)
		case errors.Is(err, json.ErrUnknownName):
			fault.Rule = "is not a setting"
		case wrong.GoType != nil:
			fault.Rule = ruleOf(wrong.GoType)
		}
	}
	return &ValidationError{Faults: []Fault{fault}}
}

// fieldAt turns "/retry/min_wait" into "retry.min_wait".
func fieldAt(pointer jsontext.Pointer) string {
	var names []string
	for name := range pointer.Tokens() {
		names = append(names, name)
	}
	if len(names) == 0 {
		return "config"
	}
	return strings.Join(names, ".")
}

func ruleOfType[T any]() string { return ruleOf(reflect.TypeFor[T]()) }

// ruleOf says in which form a setting of a type is written.
func ruleOf(of reflect.Type) string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of == reflect.TypeFor[time.Duration]():
		return `must be a duration such as "30s"`
	case of == reflect.TypeFor[Secret](), of.Kind() == reflect.String:
		return "must be a text"
	case of.Kind() == reflect.Float64:
		return "must be a number"
	case of.Kind() == reflect.Bool:
		return "must be true or false"
	case of.Kind() == reflect.Struct:
		return "must be a JSON object"
	}
	return "must be a whole number"
}
