package rounded

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid"

	"rounded/convert"
)

type order struct {
	Price    float64 `json:"price"`
	Quantity int     `json:"quantity"`
}

func plain(price float64) (prepaid.Amount, error) {
	return prepaid.ParseAmount(strconv.FormatFloat(price, 'f', 2, 64)) // want `an amount is made of a float64, which holds .*#amount$`
}

func (o order) method() prepaid.Amount {
	return prepaid.MustAmount(fmt.Sprintf("%.2f", o.Price*float64(o.Quantity))) // want `made of a float64`
}

func handler(w http.ResponseWriter, r *http.Request) {
	var o order
	if json.NewDecoder(r.Body).Decode(&o) != nil {
		return
	}
	amount := prepaid.Cents(int64(o.Price * 100)) // want `made of a float64`
	text := strings.TrimSpace(fmt.Sprint(o.Price))
	other, _ := prepaid.ParseAmount(text) // want `made of a float64`
	fmt.Fprintln(w, amount, other)
}

func closure(a prepaid.Amount) func(rate float64) (prepaid.Amount, error) {
	return func(rate float64) (prepaid.Amount, error) {
		return a.Mul(int64(rate * 100)) // want `made of a float64`
	}
}

func roundTrip(amounts []prepaid.Amount) prepaid.Amount {
	total := 0.0
	for _, a := range amounts {
		f, _ := strconv.ParseFloat(a.String(), 64)
		total += f
	}
	return prepaid.MustAmount(fmt.Sprintf("%.2f", total)) // want `made of a float64`
}

func number[T ~float32 | ~float64](n T) string { return strconv.FormatFloat(float64(n), 'f', -1, 64) } // want number:"made of a float64"

func generic(n float32) (prepaid.Amount, error) {
	return prepaid.ParseAmount(number(n)) // want `made of a float64`
}

func goroutine(prices <-chan float64, amounts chan<- prepaid.Amount) {
	go func() {
		for price := range prices {
			amounts <- prepaid.Cents(int64(math.Round(price * 100))) // want `made of a float64`
		}
	}()
}

func text(price float64) (a prepaid.Amount, err error) {
	err = a.UnmarshalText([]byte(fmt.Sprintf("%f", price))) // want `made of a float64`
	return a, err
}

func other(price float64) prepaid.Amount {
	cents := convert.Cents(price)
	return prepaid.Cents(cents) // want `made of a float64`
}

func value(price float64, parse func(string) (prepaid.Amount, error)) (prepaid.Amount, error) {
	make := prepaid.ParseAmount
	return make(fmt.Sprintf("%v", price)) // want `made of a float64`
}

func enough(balance, amount, fee prepaid.Amount) bool {
	b, _ := strconv.ParseFloat(balance.String(), 64)
	a, _ := strconv.ParseFloat(amount.String(), 64)
	f, _ := strconv.ParseFloat(fee.String(), 64)
	return b >= a+f // want `amounts are compared as float64 after arithmetic`
}

func reconciled(payments []prepaid.Amount, expected prepaid.Amount) bool {
	var total float64
	for _, p := range payments {
		cents, _ := p.Cents()
		total += float64(cents) / 100
	}
	return total == convert.Float(expected) // want `compared as float64`
}

func covers(balance, amount prepaid.Amount) bool {
	return convert.WithFee(amount) < convert.Float(balance) // want `compared as float64`
}

type decimal string

func named(price float64) (prepaid.Amount, error) {
	text := decimal(strconv.FormatFloat(price, 'f', 2, 64))
	return prepaid.ParseAmount(string("-" + text)) // want `an amount is made of a float64`
}
