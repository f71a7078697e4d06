package requestid

import (
	"cmp"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// pair are two sendings, one after the other.
type pair struct{ first, second ssa.Instruction }

// findings are those of one walk, or of all.
type findings struct {
	paid  map[pair]bool
	again map[pair]*sending
	sites map[ssa.Instruction]*site

	sends, fresh    int
	succeeds, fails []known
	returned        []value

	sources map[*source]bool
	list    []finding
}

// site is a place where a text becomes a request ID.
type site struct {
	at            ssa.Instruction
	source        *source
	direct, other bool
}

type finding struct {
	pos     token.Pos
	from    token.Pos // the source, which is reported once
	message string
	source  *source
	send    *sending
	direct  bool
	looped  bool // the same call sends again
}

func newFindings() *findings {
	return &findings{paid: map[pair]bool{}, again: map[pair]*sending{}, sites: map[ssa.Instruction]*site{}}
}

func (f *findings) converted(at, instr ssa.Instruction, direct bool, from *source) {
	s := f.sites[at]
	if s == nil {
		s = &site{at: at, direct: direct}
		f.sites[at] = s
	}
	if from == nil {
		s.other = true
	} else {
		s.source = from
	}
}

// sent notes a sending of phase 0.
func (f *findings) sent(s *sending, st *state) {
	f.sends++
	if st.guarded || s.id.ageIn(0) != made || s.id.source == nil {
		return
	}
	for _, v := range s.payment {
		if v.ageIn(0) == other {
			return
		}
	}
	f.fresh++
}

// end notes what the root returns.
func (w *walk) end(st *state, result value) {
	f := w.found
	list := result.parts
	if n := w.root.Signature.Results().Len(); n == 1 {
		list = []value{result}
	}
	if st.phase == 0 {
		f.returned = append(f.returned, result)
		return
	}
	to := &f.succeeds
	if st.failed {
		to = &f.fails
	}
	if *to == nil {
		*to = make([]known, 0, len(list))
		for _, v := range list {
			*to = append(*to, v.known)
		}
		return
	}
	for i, v := range list {
		if i < len(*to) && (*to)[i] != v.known {
			(*to)[i] = anything
		}
	}
}

// add takes over what a walk has found.
func (f *findings) add(of *findings) {
	for p, s := range of.again {
		if of.paid[p] || s.param >= 0 {
			continue
		}
		at := s.id.source
		if at == nil {
			continue
		}
		pos := at.pos
		if at.kind == counter {
			pos = s.at.Pos()
		}
		f.list = append(f.list, finding{pos: pos, from: pos, source: at, send: s, direct: s.outer == s.at, looped: p.first == p.second, message: repeated(s)})
	}
	for _, s := range of.sites {
		if s.other || s.source == nil {
			continue
		}
		f.list = append(f.list, finding{pos: s.at.Pos(), from: s.source.pos, source: s.source, direct: s.direct, message: undated(s.source)})
	}
}

func repeated(s *sending) string {
	const cost = " after an error: if the first one has moved the money, it moves twice; "
	switch {
	case s.own != nil:
		return s.name + " makes a new request ID each time, and is called again" + cost + "make the ID once, store it, and pass it in"
	case s.id.source.kind == counter:
		return "the payment is sent again under a request ID with the number of the attempt" + cost + "leave the number out"
	}
	return "the payment is sent again under a new request ID" + cost + "make the ID once, before the first sending, and store it"
}

func undated(s *source) string {
	what := "a random value"
	if s.kind == clock {
		what = "the time"
	}
	return "request ID made from " + what + " (" + s.name + "): a run that repeats the payment makes another ID and pays twice, and the client " +
		"cannot refuse an ID without a day when the service has forgotten it; use DeriveRequestID, or NewRequestID and store it"
}

// report reports each source once.
func (r *rule) report(all *findings) {
	slices.SortStableFunc(all.list, func(a, b finding) int {
		return cmp.Or(-compare(a.direct, b.direct), cmp.Compare(a.pos, b.pos))
	})
	elsewhere := map[token.Pos]bool{} // another call has sent the payment before the loop, or in it
	for _, f := range all.list {
		elsewhere[f.from] = elsewhere[f.from] || !f.looped
	}
	done := map[token.Pos]bool{}
	for _, f := range all.list {
		if !f.pos.IsValid() || done[f.from] || done[f.pos] {
			continue
		}
		done[f.from], done[f.pos] = true, true
		diagnostic := analysis.Diagnostic{Pos: f.pos, Message: f.message}
		if !elsewhere[f.from] {
			diagnostic.SuggestedFixes = r.hoist(f)
		}
		r.calls.Report(r.pass, diagnostic)
	}
}

func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
