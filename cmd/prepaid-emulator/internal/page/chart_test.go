package page

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// history books amounts in whole units, one a day.
func history(amounts ...int) []prepaidtest.Transaction {
	items := make([]prepaidtest.Transaction, len(amounts))
	balance := 0
	for i, amount := range amounts {
		balance += amount
		items[i] = prepaidtest.Transaction{
			ID: prepaid.TransactionID(strconv.Itoa(i + 1)), Description: "Load", Amount: strconv.Itoa(amount) + ".00", Fee: "0.00", RunningBalance: strconv.Itoa(balance) + ".00",
			OccurredAt: time.Date(2030, 1, 1+i, 8, 0, 0, 0, time.UTC),
		}
	}
	return items
}

func TestChartHasAStepForEachMovement(t *testing.T) {
	t.Parallel()
	require.Empty(t, chartOf(nil).Slots)

	one := chartOf(history(100))
	require.Len(t, one.Slots, 2, "what was before, and the movement")
	require.Equal(t, []string{"50.000%", "50.000%", "100.000%", "s1", "Load", "100.00", "2030-01-01 08:00:00"}, []string{
		one.Slots[1].X, one.Slots[1].Width, one.Slots[1].End, one.Slots[1].Key, one.Slots[1].What, one.Slots[1].Balance, one.Slots[1].When,
	})
	require.Equal(t, []string{"158.0", "10.0", "10.0", "148.0"}, []string{one.Slots[1].Before, one.Slots[1].Y, one.Slots[1].Top, one.Slots[1].Area})
	require.Equal(t, []chartTime{{"100%", "end", "1 Jan 08:00"}}, one.Times)
	require.Equal(t, "Balance in AUD after each of 1 movement, as steps. Now 100.00.", one.Text)

	below := chartOf(history(50, -80, 10))
	require.Equal(t, []bool{false, true, true}, []bool{below.Slots[0].Negative, below.Slots[1].Negative, below.Slots[2].Negative})
	require.Equal(t, []string{"−40", "−20", "0", "20", "40", "60"}, labels(below))
	require.Equal(t, below.Lines[2].Y, below.Ground)

	near := chartOf(history(1250, -2, -3, 4))
	require.Equal(t, []string{"1,244", "1,246", "1,248", "1,250"}, labels(near), "small steps are seen")
	require.Equal(t, near.Lines[0].Y, near.Ground)

	many := chartOf(history(make([]int, 100)...))
	require.Equal(t, []int{61, 60, 100}, []int{len(many.Slots), many.Shown, many.All})
	require.Equal(t, []string{"begin", "s41", "s100"}, []string{many.Slots[0].Key, many.Slots[1].Key, many.Slots[60].Key})
	require.Len(t, many.Times, 3)
	require.Equal(t, []string{"0.0", "0.5", "1.0"}, labels(many), "nothing moved")
}

func labels(c chart) []string {
	list := make([]string, len(c.Lines))
	for i, line := range c.Lines {
		list[i] = line.Text
	}
	return list
}
