package conformance

import (
	"maps"
	"strings"

	"github.com/cardprograms/prepaid/internal/reference"
)

// readCases read each operation for whose parameters the target has settings: alone or page by page, and with each optional group.
func readCases() []Case {
	var cases []Case
	for _, o := range reference.Read().Operations {
		if o.Safety != "read" || newRequest(&Target{}, o.Name, nil).missing {
			continue
		}
		cases = append(cases, with(o.Section, o.Name, o.Name, nil, func(p *probe) { p.pages(o.Name, nil) }))
		for _, name := range o.Names() {
			if group, isGroup := strings.CutPrefix(name, "with_"); isGroup {
				cases = append(cases, with(o.Section, o.Name+"_"+name, o.Name, nil, func(p *probe) { p.group(o, "with_"+group) }))
			}
		}
	}
	return cases
}

// group reads objects with an optional group of members.
func (p *probe) group(o *reference.Operation, name string) {
	schema := o.Response()
	if schema.Items != nil {
		schema = schema.Items
	}
	for _, object := range p.call(o.Name, values{name: 1, "page_size": 2}).objects() {
		for _, member := range schema.Properties {
			_, present := object[member.Name]
			if !present && member.Value.Include == name && !member.Value.Single { // a program may not have those of a single account
				p.failIn(schema.Section, member.Name, "is required with "+name)
			}
		}
	}
}

// pages reads the first page and the last page of a list, and checks the headers by the rules of section 1.
func (p *probe) pages(operation string, changes values) {
	page := func(number int) *response {
		all := values{"page_number": number, "page_size": 1}
		maps.Copy(all, changes)
		return p.call(operation, all).ok()
	}
	first := page(1)
	size, pages, items := first.count("X-PageSize"), first.count("X-TotalPages"), first.count("X-TotalItems")
	if first.Header.Get("X-TotalItems") == "" || items == 0 && first.Status == 204 { // the document requires the headers of a page
		return
	}
	if size < 1 || pages != (items+size-1)/size {
		p.failIn("1", "X-TotalPages", "must be X-TotalItems by X-PageSize, rounded up")
		return
	}
	if len(first.objects()) != min(size, items) {
		p.failIn("1", "body", "must have as many elements as the headers say")
	}
	last := page(pages)
	if len(last.objects()) != items-(pages-1)*size && last.count("X-TotalItems") == items {
		p.failIn("1", "body", "the last page must have what is left")
	}
}
