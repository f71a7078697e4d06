package wire

import (
	"net/http"
	"strconv"
)

// PageSizes are the internal minimum, the default and the maximum of page_size.
type PageSizes struct{ Least, Normal, Most int }

// Valid reports whether the sizes ascend, from 1 or more.
func (s PageSizes) Valid() bool { return s.Least >= 1 && s.Least <= s.Normal && s.Normal <= s.Most }

// PageInfo holds the values of the three paging headers.
type PageInfo struct{ size, pages, items int }

// Header sets the three paging headers.
func (p *PageInfo) Header(h http.Header) {
	// The reference's spelling, which is not the canonical one of net/http.
	h["X-PageSize"] = []string{strconv.Itoa(p.size)}
	h["X-TotalPages"] = []string{strconv.Itoa(p.pages)}
	h["X-TotalItems"] = []string{strconv.Itoa(p.items)}
}

// Page returns the half-open range of the items on the page of page_number and page_size, which are empty if absent. A size below the
// internal minimum or above the maximum is replaced by that limit (section 1). Without items every page is valid and empty; otherwise
// page_number must be from 1 to the number of pages.
func (s PageSizes) Page(numberText, sizeText string, total int) (from, to int, info *PageInfo, ok bool) {
	size := s.Normal
	if sizeText != "" {
		requested, _ := strconv.Atoi(sizeText) // out of range: the nearest
		size = min(max(requested, s.Least), s.Most)
	}
	info = &PageInfo{size: size, pages: (total + size - 1) / size, items: total}
	number := 1
	if numberText != "" {
		number, _ = strconv.Atoi(numberText)
	}
	if total == 0 {
		return 0, 0, info, true
	}
	if number < 1 || number > info.pages {
		return 0, 0, info, false
	}
	from = (number - 1) * size
	return from, min(from+size, total), info, true
}
