package main

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// drawn is a chart as the page shows it.
type drawn struct {
	html   string
	slots  []map[string]string
	labels []string
}

// chartOf shows the account page after movements in whole units, one a day.
func chartOf(t *testing.T, amounts ...int) drawn {
	t.Helper()
	p := launch(t, "-frozen-clock", "-start-at", "2030-01-01T08:00:00Z", "-log", "off")
	id := p.server.AddAccount(prepaidtest.SeedAccount{})
	for i, amount := range amounts {
		p.server.Adjust(id, strconv.Itoa(amount)+".00")
		if i+1 < len(amounts) {
			p.server.Advance(24 * time.Hour)
		}
	}
	d := drawn{html: p.Get("/accounts/" + string(id)).Body}
	slot := regexp.MustCompile(`<g data-key="(?P<key>[^"]*)"(?P<minus> class="minus")?>(?:<title>(?P<title>[^<]*)</title>)?<rect class="hit" x="(?P<x>[^"]*)" y="0" width="(?P<width>[^"]*)"[^>]*>` +
		`<rect class="area"[^>]* y="(?P<top>[^"]*)"[^>]* height="(?P<area>[^"]*)"/><line [^>]* y1="(?P<before>[^"]*)" y2="(?P<y>[^"]*)"></line><line [^>]* x2="(?P<end>[^"]*)"`)
	for _, found := range slot.FindAllStringSubmatch(d.html, -1) {
		parts := make(map[string]string)
		for i, name := range slot.SubexpNames() {
			parts[name] = found[i]
		}
		d.slots = append(d.slots, parts)
	}
	for _, label := range regexp.MustCompile(`dx="-8" y="[^"]*" text-anchor="end">([^<]*)<`).FindAllStringSubmatch(d.html, -1) {
		d.labels = append(d.labels, label[1])
	}
	return d
}

func TestChartHasAStepForEachMovement(t *testing.T) {
	t.Parallel()
	require.NotContains(t, chartOf(t).html, `class="chart"`)

	one := chartOf(t, 100)
	require.Len(t, one.slots, 2, "what was before, and the movement")
	step := one.slots[1]
	require.Equal(t, []string{"50.000%", "50.000%", "100.000%"}, []string{step["x"], step["width"], step["end"]})
	require.Regexp(t, `^s\d+$`, step["key"])
	require.Regexp(t, `^\S.* 100\.00, then 100\.00; 2030-01-01 08:00:00 UTC$`, step["title"])
	require.Equal(t, []string{"158.0", "10.0", "10.0", "148.0"}, []string{step["before"], step["y"], step["top"], step["area"]})
	require.Contains(t, one.html, `<text x="100%" y="184" text-anchor="end">1 Jan 08:00</text>`)
	require.Contains(t, one.html, "Balance in AUD after each of 1 movement, as steps. Now 100.00.")

	zero := func(d drawn) string {
		return regexp.MustCompile(`class="zero"[^>]* y1="([^"]*)"`).FindStringSubmatch(d.html)[1]
	}
	lines := func(d drawn) (heights []string) {
		for _, line := range regexp.MustCompile(`class="grid"[^>]* y1="([^"]*)"`).FindAllStringSubmatch(d.html, -1) {
			heights = append(heights, line[1])
		}
		return heights
	}
	const minus = ` class="minus"`
	below := chartOf(t, 50, -80, 10)
	require.Equal(t, []string{"", minus, minus}, []string{below.slots[0]["minus"], below.slots[1]["minus"], below.slots[2]["minus"]})
	require.Equal(t, []string{"−40", "−20", "0", "20", "40", "60"}, below.labels)
	require.Equal(t, lines(below)[2], zero(below))

	near := chartOf(t, 1250, -2, -3, 4)
	require.Equal(t, []string{"1,244", "1,246", "1,248", "1,250"}, near.labels, "small steps are seen")
	require.Equal(t, lines(near)[0], zero(near))

	many := chartOf(t, make([]int, 100)...)
	require.Len(t, many.slots, 61)
	require.Equal(t, "begin", many.slots[0]["key"])
	require.Contains(t, many.slots[1]["title"], "; 2030-02-10 08:00:00 UTC", "the 41st")
	require.Contains(t, many.slots[60]["title"], "; 2030-04-10 08:00:00 UTC", "the 100th")
	require.Contains(t, many.html, "each of the last 60 of 100 movements")
	require.Len(t, regexp.MustCompile(`<text x="[^"]*" y="184"`).FindAllString(many.html, -1), 3)
	require.Equal(t, []string{"0.0", "0.5", "1.0"}, many.labels, "nothing moved")
}
