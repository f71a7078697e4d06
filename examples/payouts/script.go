package main

import "context"

// script is what happens without somebody at a terminal: keys that are pressed as soon as a part of the orders is paid.
type script struct {
	d     *demo
	steps []step
}

type step struct {
	percent int
	key     byte
}

func newScript(d *demo, s *screen) *script {
	if s.live() {
		return &script{d: d} // somebody presses the keys
	}
	// Worker 2 is the one that is frozen: it must continue, and find that others have taken over.
	steps := []step{{5, '1'}, {15, 'f'}, {25, '3'}, {35, 'l'}, {45, 'p'}, {55, 'w'}, {65, '1'}, {75, '3'}, {85, '1'}}
	if d.service.emulator == nil {
		steps = []step{{20, '1'}, {40, '3'}, {60, 'w'}}
	}
	return &script{d: d, steps: steps}
}

// play takes the next step if it is due and possible.
func (s *script) play(ctx context.Context, f *figures) {
	if len(s.steps) == 0 || f.away || f.stats.Done.Count*100 < s.steps[0].percent*s.d.customers.most {
		return
	}
	if s.d.press(ctx, s.steps[0].key) {
		s.steps = s.steps[1:]
	}
}

// done reports whether nothing is left to happen: on a terminal, q was pressed.
func (s *script) done() bool { return len(s.steps) == 0 }
