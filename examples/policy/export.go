package main

import (
	"cmp"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/cardprograms/prepaid"
)

// writePolicy writes a policy as a file from which readPolicy reads the same state.
func writePolicy(to io.Writer, company prepaid.CompanyID, s state) error {
	file := document{
		Company: int64(company), DefaultAction: string(s.action),
		Categories: []string{}, Merchants: []merchantNode{}, Terminals: []terminalNode{},
	}
	for _, code := range sortedKeys(s.categories, cmp.Compare[prepaid.MCC]) {
		file.Categories = append(file.Categories, string(code)) // quoted by the encoder, since it looks like a number
	}
	for _, r := range sorted(s.merchants, compareMerchants) {
		file.Merchants = append(file.Merchants, merchantNode{r.AcquirerID, r.CardAcceptorID, r.Description})
	}
	for _, r := range sorted(s.terminals, compareTerminals) {
		file.Terminals = append(file.Terminals, terminalNode{
			r.AcquirerID, r.CardAcceptorID, r.TerminalID, r.CardAcceptorNameLocation, r.Description,
		})
	}
	encoder := yaml.NewEncoder(to)
	encoder.SetIndent(2)
	if err := encoder.Encode(file); err != nil {
		return err
	}
	return encoder.Close()
}
