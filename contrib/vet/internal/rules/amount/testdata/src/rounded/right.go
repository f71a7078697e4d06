package rounded

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"sort"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid"

	"rounded/convert"
)

type gauge interface{ Set(float64) }
type histogram interface{ Record(float64) }

type statistics struct {
	Balance float64 `json:"balance"` // for a chart
}

func metrics(g gauge, h histogram, w http.ResponseWriter, balance, limit prepaid.Amount, accounts []prepaid.Amount) {
	cents, _ := balance.Cents()
	g.Set(float64(cents) / 100)
	h.Record(convert.Float(balance))
	sum, highest := 0.0, 0.0
	for _, a := range accounts {
		f := convert.Float(a)
		sum += f
		if f > highest {
			highest = f
		}
	}
	g.Set(sum)
	g.Set(highest)
	used := convert.Float(balance) / convert.Float(limit)
	if used > 0.9 {
		fmt.Printf("%.1f %% of the limit\n", used*100)
	}
	if convert.Float(balance) < 100 { // a threshold of an alert
		fmt.Println("low float")
	}
	_ = json.NewEncoder(w).Encode(statistics{Balance: sum / float64(len(accounts))})
	sort.Slice(accounts, func(i, j int) bool { return convert.WithFee(accounts[i]) < convert.WithFee(accounts[j]) })
}

func exact(r *http.Request, price, rate string, n int, cents int64, wait time.Duration) error {
	a, err := prepaid.ParseAmount(r.FormValue("amount"))
	if err != nil {
		return err
	}
	b, err := a.Mul(int64(n))
	if err != nil || b.Compare(a) < 0 {
		return err
	}
	product, _ := new(big.Rat).SetString(price)
	factor, _ := new(big.Rat).SetString(rate)
	_, err = prepaid.ParseAmount(product.Mul(product, factor).FloatString(2))
	_ = prepaid.Cents(cents / 100 * 100)
	_ = prepaid.Cents(int64(1.5 * 100))
	_ = prepaid.MustAmount(strconv.FormatInt(cents, 10))
	_ = prepaid.MustAmount(fmt.Sprintf("%d.%02d", cents/100, cents%100))
	fmt.Println(wait.Seconds() > float64(n), a)
	return err
}

func load() prepaid.Amount { return prepaid.Cents(int64(rand.Float64() * 10_000)) }
