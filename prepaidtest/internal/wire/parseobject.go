package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var errNotObject = errors.New("must be a JSON object")

// ParseObject splits an object into its members and refuses text that is not JSON or names a member twice.
func ParseObject(raw []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("is not valid UTF-8")
	}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true)) // this function has its own error for duplicates
	if decoder.PeekKind() != jsontext.KindBeginObject {
		return nil, errNotObject
	}
	_, _ = decoder.ReadToken()
	members := make(map[string]json.RawMessage)
	for decoder.PeekKind() == jsontext.KindString {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, errNotObject
		}
		key := name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, errNotObject
		}
		if _, twice := members[key]; twice {
			return nil, errors.New("names a member twice")
		}
		end := decoder.InputOffset()
		members[key] = raw[end-int64(len(value)) : end]
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, errNotObject
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has text after the JSON object")
	}
	return members, nil
}
