// Package convert is a helper in another package.
package convert

import (
	"math"
	"strconv"

	"github.com/cardprograms/prepaid"
)

func Float(a prepaid.Amount) float64 { // want Float:"an amount as float64"
	f, _ := strconv.ParseFloat(a.String(), 64)
	return f
}

func WithFee(a prepaid.Amount) float64 { // want WithFee:"computed of an amount as float64"
	return Float(a) * 1.015
}

func Cents(f float64) int64 { return int64(math.Round(f * 100)) } // want Cents:"made of a float64"

func Amount(f float64) prepaid.Amount {
	return prepaid.Cents(Cents(f)) // want `an amount is made of a float64`
}
