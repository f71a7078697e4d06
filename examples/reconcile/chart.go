package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// chart is a balance over time, ready to draw: a line and an area in a square of side chartSide, which the page
// stretches, and labels whose positions are percentages, which it does not.
type chart struct {
	ID    string // unique on the page
	Name  string
	Ends  string // the balance at the end
	Desc  string // the content of the chart, in words
	Line  string // path data
	Area  string
	Dot   string  // path data: the end of the line
	Zero  float64 // where the balance 0 is, in per cent from the top
	Money []mark
	Days  []mark
}

// mark is a label on an axis.
type mark struct {
	At    float64 // per cent, from the top or from the left
	Label string
	Minor bool // may be omitted on a small screen
}

const chartSide = 1000

// newChart draws a series. The scale includes 0, so that areas can be compared.
func newChart(id, name string, w window, s *series) chart {
	values := make([]float64, 0, len(s.points)+1)
	for _, balance := range append([]prepaid.Amount{s.opening}, s.points...) {
		values = append(values, float(balance))
	}
	low, high, step := scale(values)
	place := func(value float64) float64 { return (high - value) / (high - low) }
	var line strings.Builder
	for i, value := range values {
		x := float64(s.lastDay(w, i-1)+1) / float64(w.days) // a point is the end of its last day
		fmt.Fprintf(&line, "%c%s %s", "ML"[min(i, 1)], coordinate(x), coordinate(place(value)))
	}
	base := coordinate(place(0))
	ends := "M" + coordinate(1) + " " + coordinate(place(values[len(values)-1])) + "h0"
	c := chart{
		ID: id, Name: name, Ends: money(s.last), Desc: describe(w, s), Zero: 100 * place(0),
		Line: line.String(), Area: line.String() + "V" + base + "H0Z", Dot: ends, Days: dayMarks(w),
	}
	for value := low; value < high+step/2; value += step {
		c.Money = append(c.Money, mark{At: 100 * place(value), Label: short(value, step)})
	}
	return c
}

// float is only for drawing; sums are amounts.
func float(a prepaid.Amount) float64 {
	value, _ := strconv.ParseFloat(a.String(), 64) // an amount is a number
	return value
}

func coordinate(part float64) string { return strconv.FormatFloat(chartSide*part, 'f', 1, 64) }

// scale finds a range that includes 0 and all values, and a round step that divides it into two to five parts.
func scale(values []float64) (low, high, step float64) {
	for _, value := range values {
		low, high = min(low, value), max(high, value)
	}
	if high == low {
		high = 1
	}
	step = math.Pow(10, math.Floor(math.Log10((high-low)/2)))
	for _, factor := range []float64{5, 2.5, 2} {
		if (high-low)/(step*factor) >= 2 {
			step *= factor
			break
		}
	}
	return math.Floor(low/step) * step, math.Ceil(high/step) * step, step
}

// short formats an amount for an axis.
func short(value, step float64) string {
	unit := ""
	switch {
	case value == 0:
		return "0"
	case step >= 1e6:
		value, unit = value/1e6, "m"
	case step >= 1e3:
		value, unit = value/1e3, "k"
	}
	text := strconv.FormatFloat(math.Abs(value), 'f', -1, 64)
	whole, rest, _ := strings.Cut(text, ".")
	if rest != "" {
		rest = "." + rest
	}
	text = thousands(whole) + rest + unit
	if value < 0 {
		return "-" + text
	}
	return text
}

// dayMarks labels the first days of months or, in a short window, days: about six of them.
func dayMarks(w window) []mark {
	const wanted = 7
	var marks []mark
	put := func(day int, label string) {
		marks = append(marks, mark{At: 100 * float64(day) / float64(w.days), Label: label, Minor: len(marks)%2 == 1})
	}
	if w.days <= 62 {
		for day := 0; day < w.days; day += (w.days + wanted - 1) / wanted {
			put(day, w.day(day).Time(time.UTC).Format("2 Jan"))
		}
		return marks
	}
	months := w.days/31/wanted + 1
	for months > 1 && 12%months != 0 && months%12 != 0 { // 5, 7 …: quarters and years are easier to read
		months++
	}
	first := w.first.Time(time.UTC)
	for at := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC); ; at = at.AddDate(0, 1, 0) {
		day := dayNumber(prepaid.DateOf(at)) - dayNumber(w.first)
		number := 12*at.Year() + int(at.Month()) - 1
		switch {
		case day >= w.days:
			return marks
		case day < 0 || number%months != 0:
		case months >= 12:
			put(day, at.Format("2006"))
		case at.Month() == time.January || len(marks) == 0 && months > 1:
			put(day, at.Format("Jan 2006"))
		default:
			put(day, at.Format("Jan"))
		}
	}
}

// describe describes a chart for those who cannot see it.
func describe(w window, s *series) string {
	lowest, highest := 0, 0
	for i, balance := range s.points {
		if balance.Compare(s.points[lowest]) < 0 {
			lowest = i
		}
		if balance.Compare(s.points[highest]) > 0 {
			highest = i
		}
	}
	return fmt.Sprintf("From %s at the start of %s to %s at the end of %s; lowest %s on %s, highest %s on %s.",
		money(s.opening), w.first, money(s.last), w.last(),
		money(s.points[lowest]), w.day(s.lastDay(w, lowest)), money(s.points[highest]), w.day(s.lastDay(w, highest)))
}
