package service

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
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

// unmarshalState parses the document. Its errors never quote the text, which is full of secrets.
func unmarshalState(text []byte) (*stateDocument, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, document.WithoutValues(err)
	}
	if head.Version != stateVersion {
		return nil, fmt.Errorf("the state's version must be %d", stateVersion)
	}
	d := new(stateDocument)
	if err := document.Unmarshal(text, d); err != nil {
		return nil, document.WithoutValues(err)
	}
	return d, nil
}
