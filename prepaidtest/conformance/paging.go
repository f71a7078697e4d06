package conformance

import "strconv"

// count reads a paging header.
func (a *response) count(name string) int {
	if a.bad {
		return -1
	}
	n, err := strconv.Atoi(a.header.Get(name))
	if err != nil || n < 0 {
		a.failIn("1", name, "must be a number")
		a.bad = true
		return -1
	}
	return n
}

// paging checks the first page, the last page and the headers of a list by the rules of section 1. The path ends with ? or &.
func (p *probe) paging(path string, r rule) {
	a := p.get(path+"page_number=1&page_size=1").status(200, 204)
	size, pages, items := a.count("X-PageSize"), a.count("X-TotalPages"), a.count("X-TotalItems")
	if a.bad {
		return
	}
	if a.code == 204 {
		if a.empty(); items != 0 {
			p.failIn("1", "X-TotalItems", "must be 0 with a 204")
		}
		return
	}
	elements := len(a.objects(r))
	if a.bad {
		return
	}
	if size < 1 || pages != (items+size-1)/size {
		p.failIn("1", "X-TotalPages", "must be X-TotalItems by X-PageSize, rounded up")
		return
	}
	if elements != min(size, items) {
		p.failIn("1", "body", "must have as many elements as the headers say")
	}
	last := p.get(path + "page_number=" + strconv.Itoa(pages) + "&page_size=1").status(200)
	if got := len(last.objects(r)); !last.bad && got != items-(pages-1)*size && last.count("X-TotalItems") == items {
		p.failIn("1", "body", "the last page must have what is left")
	}
}
