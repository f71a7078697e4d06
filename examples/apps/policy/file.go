package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cardprograms/prepaid"
)

// document is the file. The rules of a nil list are left unchanged. The default action is only compared: a file for a program
// whose rules allow must not be applied to a program whose rules block.
type document struct {
	Company       prepaid.CompanyID    `yaml:"company"`
	DefaultAction prepaid.PolicyAction `yaml:"default_action"`
	Categories    []prepaid.MCC        `yaml:"categories"`
	Merchants     []merchant           `yaml:"merchants"`
	Terminals     []terminal           `yaml:"terminals"`
}

// merchant is a prepaid.MerchantRule with the keys of the file: Go converts one to the other.
type merchant struct {
	ID             int64  `yaml:"-"`
	AcquirerID     int64  `yaml:"acquirer_id"`
	CardAcceptorID string `yaml:"card_acceptor_id"`
	Description    string `yaml:"description"`
}

// terminal is a prepaid.TerminalRule.
type terminal struct {
	ID                       int64  `yaml:"-"`
	AcquirerID               int64  `yaml:"acquirer_id"`
	CardAcceptorID           string `yaml:"card_acceptor_id"`
	TerminalID               string `yaml:"terminal_id"`
	CardAcceptorNameLocation string `yaml:"card_acceptor_name_location,omitempty"`
	Description              string `yaml:"description,omitempty"`
}

// readFile parses the file of a wanted policy. It refuses unknown keys: a list under a wrong key would never be applied. The SDK
// checks the rules before it sends anything.
func readFile(text []byte) (*document, error) {
	var d document
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var members map[string]any
	err := decoder.Decode(&d)
	if err == nil {
		err = yaml.Unmarshal(text, &members)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %s", errInput, withoutValues(err))
	case !errors.Is(decoder.Decode(new(yaml.Node)), io.EOF):
		return nil, fmt.Errorf("%w: must be one document", errInput)
	case d.Company == 0:
		return nil, fmt.Errorf("%w: company is required", errInput)
	}
	for name, value := range members {
		if value == nil { // the lines of the list may have been removed by mistake
			return nil, fmt.Errorf("%w: %s must not be empty; write [] for no rules, omit the key to leave the list unchanged", errInput, name)
		}
	}
	return &d, nil
}

// withoutValues removes the file's values from an error of the YAML library and keeps line numbers.
func withoutValues(err error) string {
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return strings.TrimPrefix(err.Error(), "yaml: ")
	}
	for i, fault := range wrong.Errors {
		wrong.Errors[i], _, _ = strings.Cut(fault, " `")
	}
	return strings.Join(wrong.Errors, "; ")
}

// writeFile writes a policy as a file from which readFile reads the same rules.
func writeFile(to io.Writer, company prepaid.CompanyID, p *prepaid.Policy) error {
	d := document{
		Company: company, DefaultAction: p.DefaultAction,
		Categories: []prepaid.MCC{}, Merchants: []merchant{}, Terminals: []terminal{},
	}
	for _, r := range p.Categories {
		d.Categories = append(d.Categories, r.MerchantCategoryCode) // the encoder quotes the code, because it looks like a number
	}
	for _, r := range p.Merchants {
		r.ID = 0 // so that the order below depends only on the content of the file
		d.Merchants = append(d.Merchants, merchant(r))
	}
	for _, r := range p.Terminals {
		r.ID = 0
		d.Terminals = append(d.Terminals, terminal(r))
	}
	slices.Sort(d.Categories) // so that two exports can be compared
	slices.SortFunc(d.Merchants, func(a, b merchant) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	slices.SortFunc(d.Terminals, func(a, b terminal) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	encoder := yaml.NewEncoder(to)
	encoder.SetIndent(2)
	return errors.Join(encoder.Encode(d), encoder.Close())
}
