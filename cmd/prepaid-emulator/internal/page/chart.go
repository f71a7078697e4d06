package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// chart is the running balance as steps of equal width, one for each movement. Horizontal positions are percentages,
// so that the chart fits every screen at one font size. Heights are pixels.
type chart struct {
	Slots  []chartSlot
	Lines  []chartLine
	Times  []chartTime
	Ground string // the zero line, or the lowest
	Text   string // for screen readers
	Shown  int    // movements
	All    int
	Axis   int // width of the amounts
	Height int
	Foot   int // baseline of the times
	Total  int
}

// chartSlot is the balance after a movement. The first slot may be the opening balance.
type chartSlot struct {
	Key                         string
	X, End, Width               string
	Y, Before                   string // heights of this step and of the step before
	Top, Area                   string // area between the step and the ground
	Negative                    bool
	What, Amount, Balance, When string
}

type chartLine struct {
	Y, Text string
	Label   string // baseline of the text
}

type chartTime struct{ X, Anchor, Text string }

const (
	chartHeight = 168
	chartMargin = 10
	chartSteps  = 60
)

// chartOf draws a history, oldest first. An empty history gives an empty chart.
func chartOf(items []prepaidtest.Transaction) chart {
	c := chart{All: len(items), Shown: min(len(items), chartSteps), Height: chartHeight, Foot: chartHeight + 16, Total: chartHeight + 22}
	if c.Shown == 0 {
		return c
	}
	items = items[c.All-c.Shown:]
	balances := make([]float64, 1, c.Shown+1) // the first is the opening balance
	for _, item := range items {
		balances = append(balances, number(item.RunningBalance))
	}
	balances[0] = balances[1] - number(items[0].Amount) + number(items[0].Fee)
	if c.All == c.Shown && c.All > 2 {
		balances = balances[1:] // skip the initial zero: it would flatten the chart
	}
	first := len(items) - len(balances) // index of the first slot's movement; -1 for the opening balance
	low, high, step := scale(balances)
	height := func(balance float64) float64 {
		return chartMargin + (high-balance)/(high-low)*(chartHeight-2*chartMargin)
	}
	for line := low; line <= high+step/2; line += step {
		y := height(line)
		c.Lines = append(c.Lines, chartLine{pixels(y), amountLabel(line, step), pixels(y + 4)})
	}
	for _, line := range c.Lines {
		c.Axis = max(c.Axis, 8*len([]rune(line.Text))+10)
	}
	ground := height(max(low, 0))
	c.Ground = pixels(ground)
	width := 100 / float64(len(balances))
	for i, balance := range balances {
		y := height(balance)
		slot := chartSlot{
			X: percent(float64(i) * width), Width: percent(width), End: percent(float64(i+1) * width), Y: pixels(y), Before: pixels(y),
			Top: pixels(min(y, ground)), Area: pixels(math.Abs(y - ground)), Negative: balance < 0, Key: "begin",
		}
		if i > 0 {
			slot.Before = pixels(height(balances[i-1]))
		}
		if first+i >= 0 {
			item := items[first+i]
			slot.Key, slot.What, slot.Amount, slot.Balance = "s"+string(item.ID), item.Description, money(item.Amount), money(item.RunningBalance)
			slot.When = item.OccurredAt.UTC().Format("2006-01-02 15:04:05")
		}
		c.Slots = append(c.Slots, slot)
	}
	c.Times = chartTimes(items, width, float64(-first)*width)
	c.Text = fmt.Sprintf("Balance in AUD after each of %d %s, as steps. Now %s.", c.Shown, plural(c.Shown, "movement", "movements"),
		money(items[len(items)-1].RunningBalance))
	return c
}

// chartTimes are the times of the first and last movements, and of a movement between them if there is room.
func chartTimes(items []prepaidtest.Transaction, width, from float64) []chartTime {
	text := func(i int) string { return items[i].OccurredAt.UTC().Format("2 Jan 15:04") }
	last := len(items) - 1
	times := []chartTime{{"100%", "end", text(last)}}
	if text(0) != text(last) {
		times = append(times, chartTime{percent(from), "start", text(0)})
		if middle := last / 2; last >= 6 && text(middle) != text(0) && text(middle) != text(last) {
			times = append(times, chartTime{percent(from + float64(middle)*width), "middle", text(middle)})
		}
	}
	return times
}

// scale finds round amounts for the lines from the lowest balance to the highest. Zero is included unless the steps would be
// too small to see.
func scale(balances []float64) (low, high, step float64) {
	low, high = slices.Min(balances), slices.Max(balances)
	if low < 0 || high-low > high/2 {
		low, high = min(low, 0), max(high, 0)
	}
	if low == high {
		high++
	}
	const wanted = 4
	step = math.Pow(10, math.Floor(math.Log10((high-low)/wanted)))
	for _, factor := range []float64{2, 2.5, 2} { // from 1 to 2, 5 and 10
		if (high-low)/step <= wanted {
			break
		}
		step *= factor
	}
	return math.Floor(low/step) * step, math.Ceil(high/step) * step, step
}

// amountLabel shows decimals only if the lines need them.
func amountLabel(amount, step float64) string {
	decimals := 0
	if step < 1 {
		decimals = int(math.Ceil(-math.Log10(step)))
	}
	return strings.TrimSuffix(money(strconv.FormatFloat(math.Round(amount/step)*step+0, 'f', max(decimals, 0), 64)), ".")
}

// number is an amount, exact enough for a picture.
func number(amount string) float64 {
	value, _ := strconv.ParseFloat(amount, 64) // always valid: the emulator wrote the amount
	return value
}

func percent(of float64) string { return strconv.FormatFloat(of, 'f', 3, 64) + "%" }

func pixels(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }
