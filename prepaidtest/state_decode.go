package prepaidtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

func marshalState(d *stateDocument) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// unmarshalState reads the form of the document. Its errors never quote the text, which is full of secrets.
func unmarshalState(text []byte) (*stateDocument, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, withoutValues(err)
	}
	if head.Version != stateVersion {
		return nil, fmt.Errorf("the state's version must be %d", stateVersion)
	}
	d := new(stateDocument)
	if err := unmarshalStrictly(text, d); err != nil {
		return nil, withoutValues(err)
	}
	return d, nil
}

// unmarshalStrictly refuses unknown members: to lose what another writer has added would be worse.
func unmarshalStrictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func withoutValues(err error) error {
	if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the state is not JSON, or not all of it: byte %d", broken.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the state is not JSON, or not all of it")
	}
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		member, _, _ := strings.Cut(mistyped.Field, ".")
		return fmt.Errorf("the state's member %s has a wrong type", member)
	}
	return errors.New("the state has an unknown member or a value that cannot be read")
}
