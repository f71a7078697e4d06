package main

import (
	"slices"
	"sync"
	"time"
)

// shownEvents is how many events the view has room for.
const shownEvents = 8

// event is something that happened.
type event struct {
	at   time.Duration // since the start
	text string
}

// events are printed as they happen, or kept for the view.
type events struct {
	screen *screen

	mu   sync.Mutex
	last []event
}

func newEvents(s *screen) *events { return &events{screen: s} }

func (e *events) live() bool { return e.screen.live() }

func (e *events) add(at time.Duration, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.live() {
		e.screen.line("%5.1f s  %s", at.Seconds(), text)
		return
	}
	e.last = append(e.last, event{at, text})
	e.last = e.last[max(0, len(e.last)-shownEvents):]
}

func (e *events) recent() []event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.last)
}
