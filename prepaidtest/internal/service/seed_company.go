package service

import (
	"slices"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// seedCompany is a company of a document with its policy rules.
type seedCompany struct {
	state.Company
	path       string
	categories []int64
	merchants  []state.PolicyMerchant
	terminals  []state.PolicyTerminal
}

func (d *seedDocument) bindCompany(b *wire.Reader) {
	add := seedCompany{path: b.Path}
	var loop string
	id := b.Integer("id", (*int64)(&add.ID)).Required()
	id.Limit(add.ID > 0, "must be positive")
	b.String("client_id", &add.ClientID)
	b.String("program_id", &add.ProgramID)
	b.String("product_type", &add.ProductType).OneOf(productTypes()...)
	b.String("loop", &loop).OneOf("open", "closed", "none")
	if loop != "open" {
		add.Loop = state.Loop(loop)
	}
	rules := []wire.Value{
		b.Integers("categories", &add.categories),
		b.Objects("merchants", func(b *wire.Reader) {
			var r state.PolicyMerchant
			b.Struct(&r)
			add.merchants = append(add.merchants, r)
		}),
		b.Objects("terminals", func(b *wire.Reader) {
			var r state.PolicyTerminal
			b.Struct(&r)
			add.terminals = append(add.terminals, r)
		}),
	}
	for _, list := range rules {
		list.Limit(add.Loop != state.NoPolicy, "is not for a company with loop none")
	}
	add.checkRules(b)
	d.companies = append(d.companies, add)
}

// checkRules adds faults for invalid codes and duplicate rules.
func (add *seedCompany) checkRules(b *wire.Reader) {
	fault := func(list string, i int, rule string) { b.Faults.Add(b.Path+list+"["+strconv.Itoa(i)+"]", rule) }
	for i, code := range add.categories {
		if code < 0 || code > 9999 {
			fault("categories", i, "must be a code of up to four digits")
		}
		if slices.Contains(add.categories[:i], code) {
			fault("categories", i, "is there twice")
		}
	}
	for i, r := range add.merchants {
		if slices.ContainsFunc(add.merchants[:i], policy.SameMerchant(r)) {
			fault("merchants", i, "is there twice")
		}
	}
	for i, r := range add.terminals {
		if slices.ContainsFunc(add.terminals[:i], policy.SameTerminal(r)) {
			fault("terminals", i, "is there twice")
		}
	}
}

func productTypes() []string { return []string{"reloadable", "gift", "loyalty"} }
