package prepaidtest

import (
	"net/http"
	"strconv"
)

// pageRequest is what a caller asked for; the number is 0 when it was not sent. A size below the internal minimum or
// above the maximum is replaced (section 1).
type pageRequest struct {
	number, size int
	sized        bool
}

// pageInfo is what the three paging headers say.
type pageInfo struct{ size, pages, items int }

func (p *pageInfo) header(h http.Header) {
	// The reference's spelling, which is not the canonical one of net/http.
	h["X-PageSize"] = []string{strconv.Itoa(p.size)}
	h["X-TotalPages"] = []string{strconv.Itoa(p.pages)}
	h["X-TotalItems"] = []string{strconv.Itoa(p.items)}
}

// page finds the half-open range of items to answer with. An empty set has no pages and answers any page with
// nothing; otherwise page_number must be from 1 to the number of pages.
func (s *settings) page(request pageRequest, total int) (from, to int, info *pageInfo, ok bool) {
	size := s.pageDefault
	if request.sized {
		size = min(max(request.size, s.pageMin), s.pageMax)
	}
	info = &pageInfo{size: size, pages: (total + size - 1) / size, items: total}
	number := max(request.number, 1)
	if total == 0 {
		return 0, 0, info, true
	}
	if number > info.pages {
		return 0, 0, info, false
	}
	from = (number - 1) * size
	return from, min(from+size, total), info, true
}

// paged answers with one page of items, each appended in its wire form; with 204 when there are none at all.
func paged[T any](c *call, request pageRequest, items []T, wire func(to []byte, item T) []byte) reply {
	from, to, info, ok := c.server.settings.page(request, len(items))
	if !ok {
		return c.unusable("invalid fields: page_number is beyond X-TotalPages")
	}
	if from == to {
		return reply{status: http.StatusNoContent, page: info}
	}
	text := append(c.server.pages.get(), '[')
	for i, item := range items[from:to] {
		if i > 0 {
			text = append(text, ',')
		}
		text = wire(text, item)
	}
	answer := c.encoded(http.StatusOK, append(text, ']'))
	answer.page, answer.pooled = info, true
	return answer
}
