// Package openapi describes the service as the emulator understands it, as an OpenAPI 3.1 document.
//
// The package does not list the input of an operation: the operation's handler runs once with a call that only describes
// the input. Names, types and limits are thus those that the handler checks. The responses are in the schemas of this
// package; the tests compare every response of the emulator with these schemas. The package keeps no state.
package openapi

import (
	"bytes"
	"encoding/json"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Options are the settings that change the document.
type Options struct {
	Routes        exchange.Table
	MediaType     string
	Version       string
	Wallets       []string // the wallet with certificates first
	BadOnReport   int      // response status if a request to start a report has a bad token
	EmptyIDs      bool     // a direct entry that fails has an empty transaction_id, too
	EmptyID       string   // type of an empty transaction_id: string or null; "" for all other forms
	NoPaging      bool     // no paging headers on the company search
	OneAccount    bool     // the company search returns one object
	PingType      string
	AlertType     string
	Signature     string // header, empty for none
	SignatureKey  string
	EmptyCategory bool // history items without a merchant have an empty category
}

type document struct {
	OpenAPI    string               `json:"openapi"`
	Info       info                 `json:"info"`
	Servers    []server             `json:"servers"`
	Security   []wire.Ordered[list] `json:"security"`
	Tags       []tag                `json:"tags"`
	Paths      wire.Ordered[*path]  `json:"paths"`
	Webhooks   wire.Ordered[*path]  `json:"webhooks"`
	Components components           `json:"components"`
}

type list = []string

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Summary     string `json:"summary"`
	Description string `json:"description"`
}

type server struct {
	URL         string                  `json:"url"`
	Description string                  `json:"description"`
	Variables   wire.Ordered[*variable] `json:"variables,omitzero"`
}

type variable struct {
	Default     string `json:"default"`
	Description string `json:"description"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type path = wire.Ordered[*operation]

type operation struct {
	ID          string                  `json:"operationId"`
	Tags        list                    `json:"tags,omitzero"`
	Summary     string                  `json:"summary"`
	Description string                  `json:"description,omitzero"`
	Reference   string                  `json:"x-reference"`
	Safety      string                  `json:"x-safety,omitzero"`
	SafetyWhen  []safetyWhen            `json:"x-safety-when,omitzero"`
	Emulator    string                  `json:"x-emulator,omitzero"`
	Deprecated  bool                    `json:"deprecated,omitzero"`
	Security    []wire.Ordered[list]    `json:"security,omitzero"`
	Parameters  []parameter             `json:"parameters,omitzero"`
	Body        *body                   `json:"requestBody,omitzero"`
	Responses   wire.Ordered[*response] `json:"responses"`
}

// safetyWhen is the safety class of a request whose body has one of the values in a member.
type safetyWhen struct {
	Member string `json:"member"`
	Values []any  `json:"values"`
	Safety string `json:"safety"`
}

type parameter struct {
	Name        string       `json:"name"`
	In          string       `json:"in"`
	Required    bool         `json:"required,omitzero"`
	Description string       `json:"description,omitzero"`
	Emulator    string       `json:"x-emulator,omitzero"`
	Schema      *wire.Schema `json:"schema"`
}

type body struct {
	Required bool                   `json:"required"`
	Content  wire.Ordered[*content] `json:"content"`
}

type content struct {
	Schema  *wire.Schema    `json:"schema"`
	Example json.RawMessage `json:"example,omitzero"`
}

type response struct {
	Ref         string                 `json:"$ref,omitzero"`
	Description string                 `json:"description,omitzero"`
	Emulator    string                 `json:"x-emulator,omitzero"`
	Codes       wire.Ordered[string]   `json:"x-error-codes,omitzero"` // with their source: the reference, or the emulator alone
	Headers     wire.Ordered[*header]  `json:"headers,omitzero"`
	Content     wire.Ordered[*content] `json:"content,omitzero"`
}

type header struct {
	Ref         string       `json:"$ref,omitzero"`
	Description string       `json:"description,omitzero"`
	Emulator    string       `json:"x-emulator,omitzero"`
	Required    bool         `json:"required,omitzero"`
	Schema      *wire.Schema `json:"schema,omitzero"`
}

type components struct {
	Schemas         wire.Ordered[*wire.Schema] `json:"schemas"`
	Responses       wire.Ordered[*response]    `json:"responses"`
	Headers         wire.Ordered[*header]      `json:"headers"`
	SecuritySchemes wire.Ordered[*scheme]      `json:"securitySchemes"`
}

type scheme struct {
	Type        string              `json:"type"`
	Scheme      string              `json:"scheme,omitzero"`
	Description string              `json:"description"`
	Flows       wire.Ordered[*flow] `json:"flows,omitzero"`
}

type flow struct {
	TokenURL string               `json:"tokenUrl"`
	Scopes   wire.Ordered[string] `json:"scopes"`
}

// Text returns the document as indented JSON. Equal options give equal text.
func Text(with Options) ([]byte, error) {
	b := builder{with: with}
	var text, indented bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(b.document()); err != nil {
		return nil, err
	}
	err := json.Indent(&indented, text.Bytes(), "", "  ")
	return indented.Bytes(), err
}
