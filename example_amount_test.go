package prepaid_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cardprograms/prepaid"
)

// Whole hundredths are the form in which many systems keep money.
func ExampleCents() {
	fmt.Println(prepaid.Cents(2550), prepaid.Cents(-5), prepaid.Cents(0))
	// Output: 25.50 -0.05 0.00
}

// MustAmount is for constants and tests: a text that is no amount panics. Use ParseAmount for input.
func ExampleMustAmount() {
	fee := prepaid.MustAmount("0.125")
	fmt.Println(fee, fee == prepaid.MustAmount("0.12500"))
	// Output: 0.125 true
}

// An amount is exact and is its own map key. The zero value is 0 and can be added to.
func ExampleAmount() {
	var total prepaid.Amount
	for range 10 {
		sum, err := total.Add(prepaid.MustAmount("0.10"))
		if err != nil {
			fmt.Println(err)
			return
		}
		total = sum
	}
	seen := map[prepaid.Amount]bool{prepaid.Cents(100): true}
	fmt.Println(total, seen[total], total.Sign(), total.Neg())
	// Output: 1.00 true 1 -1.00
}

// A sum that would have to be rounded is an error, never a slightly wrong amount.
func ExampleAmount_Add() {
	large := prepaid.MustAmount("99999999999999999.99")
	for _, more := range []string{"0.01", "0.001"} {
		sum, err := large.Add(prepaid.MustAmount(more))
		fmt.Println(sum, errors.Is(err, prepaid.ErrAmountRange))
	}
	// Output:
	// 100000000000000000.00 false
	// 0.00 true
}

// What is left on a card after a purchase with a fee.
func ExampleAmount_Sub() {
	left := prepaid.MustAmount("100.00")
	for _, spent := range []prepaid.Amount{prepaid.MustAmount("60.00"), prepaid.Cents(250)} {
		rest, err := left.Sub(spent)
		if err != nil {
			fmt.Println(err)
			return
		}
		left = rest
	}
	fmt.Println(left)
	// Output: 37.50
}

// The cost of 250 cards at a price each.
func ExampleAmount_Mul() {
	cost, err := prepaid.MustAmount("3.95").Mul(250)
	fmt.Println(cost, err)
	// Output: 987.50 <nil>
}

// Cmp suits slices.SortFunc and slices.MaxFunc.
func ExampleAmount_Cmp() {
	balances := []prepaid.Amount{prepaid.MustAmount("9.50"), prepaid.MustAmount("-3"), prepaid.MustAmount("10.05")}
	slices.SortFunc(balances, prepaid.Amount.Cmp)
	fmt.Println(balances)
	// Output: [-3.00 9.50 10.05]
}

// Back to hundredths. The second value tells whether nothing was lost.
func ExampleAmount_Cents() {
	for _, text := range []string{"25.50", "0.125"} {
		cents, exact := prepaid.MustAmount(text).Cents()
		fmt.Println(cents, exact)
	}
	// Output:
	// 2550 true
	// 0 false
}

// In JSON an amount is a number that always has a point, which tells the service that it is decimal.
func ExampleAmount_MarshalJSON() {
	text, err := json.Marshal(map[string]prepaid.Amount{"amount": prepaid.Cents(1000)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	var back struct {
		Amount prepaid.Amount `json:"amount"`
	}
	err = json.Unmarshal([]byte(`{"amount": 0.1}`), &back)
	fmt.Println(back.Amount, err)
	// Output:
	// {"amount":10.00}
	// 0.10 <nil>
}

// From a NUMERIC column, which drivers give as text. A float may have been rounded, and is refused.
func ExampleAmount_Scan() {
	var balance prepaid.Amount
	if err := balance.Scan("25.5000"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(balance)
	fmt.Println(balance.Scan(25.5))
	// Output:
	// 25.50
	// prepaid: amount: not a plain decimal number: cannot scan float64
}
