package main

import "github.com/cardprograms/prepaid"

// maxPoints bounds the points of a window: in a long one a point covers several days.
const maxPoints = 400

// series is a balance at the end of each day, or of every few days.
type series struct {
	opening prepaid.Amount
	points  []prepaid.Amount
	step    int // days between two points
	filled  int
	last    prepaid.Amount
}

func newSeries(w window, opening prepaid.Amount) *series {
	step := (w.days + maxPoints - 1) / maxPoints
	return &series{
		opening: opening, points: make([]prepaid.Amount, (w.days+step-1)/step), step: step, last: opening,
	}
}

// record records the balance after a transaction on a day. Days arrive in order.
func (s *series) record(day int, balance prepaid.Amount) {
	s.fill(day / s.step)
	s.last = balance
}

// fill completes the points before index: nothing more happens there.
func (s *series) fill(index int) {
	for ; s.filled < min(index, len(s.points)); s.filled++ {
		s.points[s.filled] = s.last
	}
}

// finish completes all points.
func (s *series) finish() { s.fill(len(s.points)) }

// add adds another series of the same window. Both are finished.
func (s *series) add(other *series) (err error) {
	if s.opening, err = s.opening.Add(other.opening); err != nil {
		return err
	}
	for i := range s.points {
		if s.points[i], err = s.points[i].Add(other.points[i]); err != nil {
			return err
		}
	}
	s.last = s.points[len(s.points)-1]
	return nil
}

// lastDay returns the last day of the window that a point covers.
func (s *series) lastDay(w window, point int) int { return min((point+1)*s.step, w.days) - 1 }
