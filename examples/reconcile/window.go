package main

import (
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
)

// window is the days that are read: whole days of one time zone, including the last one.
type window struct {
	first prepaid.Date
	days  int
	zone  *time.Location
}

// window fills in the defaults.
func (o options) window(now time.Time) (window, error) {
	zone, err := time.LoadLocation(o.zone)
	if err != nil {
		return window{}, fmt.Errorf("%w: -zone is not a time zone", errSetup)
	}
	to := o.to
	if to.IsZero() {
		to = prepaid.DateOf(now.In(zone).AddDate(0, 0, -1))
	}
	from := o.from
	if from.IsZero() {
		from = prepaid.DateOf(to.Time(time.UTC).AddDate(0, 0, 1).AddDate(0, -6, 0))
	}
	if dayNumber(to) > dayNumber(prepaid.DateOf(now.In(zone))) {
		return window{}, fmt.Errorf("%w: -to is after today in -zone: future days cannot be reconciled", errSetup)
	}
	days := dayNumber(to) - dayNumber(from) + 1
	if days < 1 {
		return window{}, fmt.Errorf("%w: -to is before -from", errSetup)
	}
	return window{first: from, days: days, zone: zone}, nil
}

// dayNumber counts days; in UTC each has 24 hours.
func dayNumber(d prepaid.Date) int { return int(d.Time(time.UTC).Unix() / (24 * 60 * 60)) }

// day returns the nth day, counted from 0.
func (w window) day(n int) prepaid.Date {
	return prepaid.DateOf(w.first.Time(time.UTC).AddDate(0, 0, n))
}

// last returns the last day, which belongs to the window.
func (w window) last() prepaid.Date { return w.day(w.days - 1) }

// from returns the first moment of the window.
func (w window) from() time.Time { return w.first.Time(w.zone) }

// end returns the first moment after the window, so that no second is counted twice or lost.
func (w window) end() time.Time { return w.day(w.days).Time(w.zone) }

// index returns the day of a moment.
func (w window) index(at time.Time) int {
	return dayNumber(prepaid.DateOf(at.In(w.zone))) - dayNumber(w.first)
}
