package prepaid_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cardprograms/prepaid"
)

// A day that does not exist is refused.
func ExampleParseDate() {
	for _, text := range []string{"2024-02-29", "2026-02-29", "1/5/1990"} {
		day, err := prepaid.ParseDate(text)
		fmt.Println(day, errors.Is(err, prepaid.ErrSyntax))
	}
	// Output:
	// 2024-02-29 false
	//  true
	//  true
}

// A secret never prints. Only Reveal returns it, and is easy to find in a review.
func ExampleSecret() {
	settings := struct {
		ClientID     string
		ClientSecret prepaid.Secret
	}{"acme", prepaid.NewSecret("s3cret")}
	fmt.Printf("%+v\n", settings)
	printLogger().Info("starting", slog.Any("secret", settings.ClientSecret))
	text, err := json.Marshal(settings)
	fmt.Println(string(text), err)
	fmt.Println(len(settings.ClientSecret.Reveal()))
	// Output:
	// {ClientID:acme ClientSecret:[REDACTED]}
	// level=INFO msg=starting secret=[REDACTED]
	// {"ClientID":"acme","ClientSecret":"[REDACTED]"} <nil>
	// 6
}

// A random ID for a payment that has no identity of its own. Store it with the params before the first call.
func ExampleNewRequestID() {
	id := prepaid.NewRequestID()
	day, ok := id.Date()
	fmt.Println(len(id), ok, day.Time(time.UTC).Before(time.Now()), id != prepaid.NewRequestID())
	// Output: 36 true true true
}

// The day in an ID determines how long it can be sent: 22 days, well before the service forgets it.
func ExampleRequestID_Date() {
	id := prepaid.DeriveRequestID(prepaid.Date{Year: 2026, Month: time.November, Day: 20}, "payroll-2026-11", "emp-7")
	day, ok := id.Date()
	fmt.Println(day, ok)
	_, ok = prepaid.RequestID("invoice-7").Date() // your own format: check its age yourself
	fmt.Println(ok)
	// Output:
	// 2026-11-20 true
	// false
}

// A value that the reference does not list is kept as received, and can be distinguished.
func ExampleKnown() {
	var account prepaid.AccountSummary
	check(json.Unmarshal([]byte(`{"status": "frozen", "balance": 1.00}`), &account))
	switch {
	case account.Status == prepaid.AccountStatusActive:
		fmt.Println("pay")
	case !prepaid.Known(account.Status):
		fmt.Println("for review:", account.Status)
	}
	// Output: for review: frozen
}

// MustAmount is for constants and tests: it panics if the text is not an amount. Use ParseAmount for input.
func ExampleMustAmount() {
	fee := prepaid.MustAmount("0.125")
	fmt.Println(fee, fee == prepaid.MustAmount("0.12500"))
	// Output: 0.125 true
}

// An amount is exact and can be a map key. The zero value is 0 and can be added to.
func ExampleAmount() {
	var total prepaid.Amount
	for range 10 {
		sum, err := total.Add(prepaid.MustAmount("0.10"))
		check(err)
		total = sum
	}
	seen := map[prepaid.Amount]bool{prepaid.Cents(100): true}
	fmt.Println(total, seen[total], total.Sign(), total.Neg())
	// Output: 1.00 true 1 -1.00
}

// An amount from a NUMERIC column, which drivers return as text. A float may have been rounded and is refused.
func ExampleAmount_Scan() {
	var balance prepaid.Amount
	check(balance.Scan("25.5000"))
	fmt.Println(balance)
	fmt.Println(balance.Scan(25.5))
	// Output:
	// 25.50
	// prepaid: amount: not a plain decimal number: cannot scan float64
}
