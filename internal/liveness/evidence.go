package liveness

import (
	"encoding/json"
	"math"
	"slices"
	"sort"
	"time"
)

// Evidence is what the processes of a store know about the service's responses, one process after the other. Its durations are times on
// a clock that stands still while no process runs, and that nobody can set: the time between two of them is never too long.
type evidence struct {
	// Service is the service that responded.
	Service string `json:"service"`
	// Ran is how long the processes have run.
	Ran time.Duration `json:"ran"`
	// Lives are the processes, with a new one after each step of the store's clock.
	Lives []life `json:"lives"`
	// Signs are responses, sorted by time.
	Signs [][2]time.Duration `json:"signs"`
	// Silent is when the first read began that got no response, if there was none since.
	Silent *time.Duration `json:"silent,omitempty"`
	// Broken is the end of the last long silence.
	Broken *time.Duration `json:"broken,omitempty"`
}

// life is a time without a pause and without a step of the store's clock.
type life struct {
	Began time.Time     `json:"began"` // by the store's clock
	From  time.Duration `json:"from"`
	To    time.Duration `json:"to"`
}

const (
	// mostLives and mostSigns limit the size of evidence. What is dropped makes a wait longer, never shorter.
	mostLives, mostSigns = 64, 192
	// step is the least difference between two clocks that counts as a step.
	step = time.Second
)

// record is the evidence of a Tracker. It begins when the Tracker is made, or with the evidence of the process before.
type record struct {
	evidence

	first  time.Time // when the evidence of this process begins
	silent time.Time // Silent of the process before, until the first response
	began  time.Time // when the last life began
	read   time.Time // when the store's clock was last read
	clock  time.Time // its time
	sorted []sign    // of allSigns, until there is another
}

// at returns a time of this process for a time of the evidence. Times before this process seem later than they were.
func (r *record) at(ran time.Duration) time.Time {
	return r.began.Add(ran - r.Lives[len(r.Lives)-1].From)
}

// ran is the reverse of at.
func (r *record) ran(at time.Time) time.Duration {
	return r.Lives[len(r.Lives)-1].From + at.Sub(r.began)
}

// live notes the time of the store's clock. A step begins another life. If the clock was set back, its earlier times are ambiguous: then
// the evidence begins again.
func (r *record) live(clock time.Time) {
	now := time.Now()
	clock = clock.Round(0) // a monotonic reading would hide a step
	if n := len(r.Lives); n > 0 {
		last := &r.Lives[n-1]
		if !r.first.IsZero() {
			last.To = r.ran(now)
			r.Ran = last.To
		}
		switch off := clock.Sub(last.Began) - (last.To - last.From); {
		case off < -step:
			r.Lives, r.Signs, r.first = nil, nil, time.Time{}
		case !r.first.IsZero() && off <= step:
			r.read, r.clock = now, clock
			return
		}
	}
	if r.first.IsZero() {
		r.first = now
	}
	r.began, r.read, r.clock, r.sorted = now, now, clock, nil
	r.Lives = append(r.Lives[max(0, len(r.Lives)-mostLives+1):], life{clock, r.Ran, r.Ran})
}

// sent returns the latest time at which a request can have been sent that, by the store's clock, was sent at the time at. old is true if
// that was before the evidence.
func (r *record) sent(at time.Time) (latest time.Time, old bool) {
	clock := r.clock.Add(at.Sub(r.read))
	ran, old := r.Lives[0].From, true
	for _, l := range slices.Backward(r.Lives) {
		if after := clock.Sub(l.Began); after >= 0 {
			ran, old = l.From+min(after, l.To-l.From), false
			break
		}
	}
	if !at.Before(r.first) { // in this process
		ran, old = max(ran, r.ran(at)), false
	}
	return r.at(ran + 2*step), old // each of the two clocks can differ by a step
}

// away returns how long no process ran between two times of this process.
func (r *record) away(from, to time.Time) (sum time.Duration) {
	for i, l := range r.Lives {
		if at := r.at(l.From); i > 0 && !at.Before(from) && !at.After(to) {
			before := r.Lives[i-1]
			sum += max(l.Began.Sub(before.Began)-(before.To-before.From), 0)
		}
	}
	return sum
}

// Evidence returns what the Tracker and the processes before it know, for [Tracker.Use] in the next process. clock is the present time
// of the store's clock.
func (t *Tracker) Evidence(service string, clock time.Time) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &t.record
	r.live(clock)
	r.Service = service
	e := r.evidence
	e.Signs, e.Silent, e.Broken = nil, nil, nil
	if !t.broken.IsZero() {
		e.Broken = new(r.ran(t.broken))
	}
	switch {
	case !r.silent.IsZero():
		e.Silent = new(r.ran(r.silent))
	case t.fails > 0:
		e.Silent = new(r.ran(t.silent))
	case !t.reads.IsZero() && time.Since(t.reads) > keepEvery:
		e.Silent = new(r.ran(t.reads))
	}
	last := time.Duration(math.MinInt64 / 2)
	for _, s := range t.allSigns() {
		sent, at := r.ran(s.sent), r.ran(s.at)
		if at-last >= min((r.Ran-at)/32, t.late/4) { // fewer of those that are longer ago
			e.Signs, last = append(e.Signs, [2]time.Duration{sent, at}), at
		}
	}
	e.Signs = e.Signs[max(0, len(e.Signs)-mostSigns):]
	text, _ := json.Marshal(e) // always possible
	return text
}

// Use adds the evidence of earlier processes. Other text, and evidence of another service, has no effect; nor has a second call.
func (t *Tracker) Use(service string, clock time.Time, text []byte) {
	var e evidence
	if json.Unmarshal(text, &e) != nil || e.Service != service || len(e.Lives) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.record.first.IsZero() {
		r := &t.record
		r.evidence = e
		r.live(clock)
		if e.Silent != nil {
			r.silent = r.at(*e.Silent)
		}
		if e.Broken != nil {
			t.broken = later(t.broken, r.at(*e.Broken))
		}
	}
}

// used returns when Use has added evidence, if it has. A response to an earlier request is no part of it: a wait that began with such a
// response would not look whether the evidence and one more response admit the repeat.
func (t *Tracker) used() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.record.Signs) == 0 {
		return time.Time{}
	}
	return t.record.first
}

// ends notes that a response has arrived now.
func (r *record) ends(late time.Duration) (broken bool) {
	now := time.Now()
	broken = !r.silent.IsZero() && now.Sub(r.silent)+r.away(r.silent, now) > late
	r.silent = time.Time{}
	return broken
}

// allSigns returns the signs of earlier processes and of this one, sorted by time.
func (t *Tracker) allSigns() []sign {
	r := &t.record
	if r.sorted != nil {
		return r.sorted
	}
	var all []sign
	for _, s := range r.Signs {
		all = append(all, sign{r.at(s[0]), r.at(s[1])})
	}
	for i := range t.signs {
		for _, slot := range t.signs[i].ring {
			for _, s := range []sign{slot.first, slot.last} {
				if !s.at.IsZero() && !s.sent.Before(r.first) {
					all = append(all, s)
				}
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].at.Before(all[j].at) }) // an instance of slices.SortFunc is 30 KB of each program
	r.sorted = all
	return all
}

// proved returns when r may be repeated, if the evidence of earlier processes and of this one shows that. It does not trust the clock
// with which r was recorded.
func (t *Tracker) proved(r Request) (at time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	record := &t.record
	if len(record.Signs) == 0 { // Await knows as much
		return at, false
	}
	last, old := record.sent(r.Last)
	attempt := r.NotBefore.Sub(r.Last) - t.wait
	var first sign
	var gone time.Time
	for _, s := range t.allSigns() {
		if s.sent.Before(last.Add(attempt/3)) || last.Before(t.broken) && s.at.Before(t.broken) {
			continue
		}
		switch {
		case first.at.IsZero() || s.at.Sub(s.sent) > max(t.late, 2*first.at.Sub(first.sent)):
			first = s
			age := max(s.at.Sub(r.First), r.Last.Sub(r.First)+s.at.Sub(last)+record.away(last.Add(-2*step), s.at))
			if old {
				age = longestPause
			}
			gone = t.gone(Request{First: s.at.Add(-age), Last: last}, s.at, attempt/3)
		case !s.sent.Before(later(last.Add(attempt), gone)):
			return later(s.at, last.Add(attempt)).Add(t.wait), true
		}
	}
	return at, false
}
