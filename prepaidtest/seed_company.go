package prepaidtest

import (
	"slices"
	"strconv"
)

// seedCompany is a company of a document with its policy rules.
type seedCompany struct {
	Company
	path       string
	categories []int64
	merchants  []merchantRule
	terminals  []terminalRule
}

func (d *seedDocument) bindCompany(b *binder) {
	add := seedCompany{path: b.path}
	var loop string
	id := b.integer("id", &add.ID).required()
	id.limit(add.ID > 0, "must be positive")
	b.string("client_id", &add.ClientID)
	b.string("program_id", &add.ProgramID)
	b.string("product_type", &add.ProductType).oneOf(productTypes()...)
	b.string("loop", &loop).oneOf("open", "closed", "none")
	if loop != "open" {
		add.Loop = Loop(loop)
	}
	rules := []bound{
		b.integers("categories", &add.categories),
		b.objects("merchants", func(b *binder) {
			var r merchantRule
			r.bind(b)
			add.merchants = append(add.merchants, r)
		}),
		b.objects("terminals", func(b *binder) {
			var r terminalRule
			r.bind(b)
			add.terminals = append(add.terminals, r)
		}),
	}
	for _, list := range rules {
		list.limit(add.Loop != NoPolicy, "is not for a company with loop none")
	}
	add.checkRules(b)
	d.companies = append(d.companies, add)
}

// checkRules faults codes that are none and rules that are there twice.
func (add *seedCompany) checkRules(b *binder) {
	fault := func(list string, i int, rule string) { b.faults.add(b.path+list+"["+strconv.Itoa(i)+"]", rule) }
	for i, code := range add.categories {
		if code < 0 || code > 9999 {
			fault("categories", i, "must be a code of up to four digits")
		}
		if slices.Contains(add.categories[:i], code) {
			fault("categories", i, "is there twice")
		}
	}
	for i, r := range add.merchants {
		if slices.ContainsFunc(add.merchants[:i], r.same) {
			fault("merchants", i, "is there twice")
		}
	}
	for i, r := range add.terminals {
		if slices.ContainsFunc(add.terminals[:i], r.same) {
			fault("terminals", i, "is there twice")
		}
	}
}

func productTypes() []string { return []string{"reloadable", "gift", "loyalty"} }
