package prepaid_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
)

// A birthday is the same day everywhere. It is sent as midnight UTC, the only format of the service.
func ExampleDate() {
	born := prepaid.Date{Year: 1990, Month: time.May, Day: 1}
	wire, err := json.Marshal(born)
	check(err)
	fmt.Println(born, string(wire), born.Before(prepaid.Date{Year: 2008, Month: time.November, Day: 21}))
	// Output: 1990-05-01 "1990-05-01T00:00:00Z" true
}

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

// The day of an instant depends on the time zone, so specify it.
func ExampleDateOf() {
	moment := time.Date(2026, time.October, 1, 20, 0, 0, 0, time.UTC)
	fmt.Println(prepaid.DateOf(moment), prepaid.DateOf(moment.In(time.FixedZone("AEST", 10*60*60))))
	// Output: 2026-10-01 2026-10-02
}

// The instants at which a day starts and ends in the program's own zone, as bounds of a history.
func ExampleDate_Time() {
	sydney := time.FixedZone("AEST", 10*60*60)
	day := prepaid.Date{Year: 2026, Month: time.October, Day: 1}
	params := prepaid.ListTransactionsParams{From: day.Time(sydney), Before: day.Time(sydney).AddDate(0, 0, 1)}
	fmt.Println(params.From.UTC().Format(time.RFC3339), params.Before.UTC().Format(time.RFC3339))
	// Output: 2026-09-30T14:00:00Z 2026-10-01T14:00:00Z
}

// A date-time of the service is read as the day as written. Its zone is not converted.
func ExampleDate_UnmarshalText() {
	var born prepaid.Date
	for _, text := range []string{"1990-05-01", "1990-05-01T00:00:00Z", "1990-05-01T23:30:00+10:00"} {
		check(born.UnmarshalText([]byte(text)))
		fmt.Println(born)
	}
	// Output:
	// 1990-05-01
	// 1990-05-01
	// 1990-05-01
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

// Secrets are compared with Equal, in a time that does not depend on where they differ. They have no ==.
func ExampleSecret_Equal() {
	stored, given := prepaid.NewSecret("s3cret"), prepaid.NewSecret("guess")
	fmt.Println(stored.Equal(given), stored.Equal(prepaid.NewSecret("s3cret")), prepaid.Secret{}.IsZero())
	// Output: false true true
}

// A configuration file can contain a secret. A redacted one is refused.
func ExampleSecret_UnmarshalText() {
	for _, file := range []string{`{"client_secret": "s3cret"}`, `{"client_secret": "[REDACTED]"}`} {
		var credentials prepaid.Config
		err := json.Unmarshal([]byte(file), &credentials)
		fmt.Println(errors.Is(err, prepaid.ErrSyntax), credentials.ClientSecret.IsZero())
	}
	// Output:
	// false false
	// true true
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
func ExampleAccountStatus_Known() {
	var account prepaid.AccountSummary
	check(json.Unmarshal([]byte(`{"status": "frozen", "balance": 1.00}`), &account))
	switch {
	case account.Status == prepaid.AccountStatusActive:
		fmt.Println("pay")
	case !account.Status.Known():
		fmt.Println("for review:", account.Status)
	}
	// Output: for review: frozen
}

// Many systems store money as whole hundredths.
func ExampleCents() {
	fmt.Println(prepaid.Cents(2550), prepaid.Cents(-5), prepaid.Cents(0))
	// Output: 25.50 -0.05 0.00
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

// The balance of a card after a purchase with a fee.
func ExampleAmount_Sub() {
	left := prepaid.MustAmount("100.00")
	for _, spent := range []prepaid.Amount{prepaid.MustAmount("60.00"), prepaid.Cents(250)} {
		rest, err := left.Sub(spent)
		check(err)
		left = rest
	}
	fmt.Println(left)
	// Output: 37.50
}

// The cost of 250 cards at a price per card.
func ExampleAmount_Mul() {
	cost, err := prepaid.MustAmount("3.95").Mul(250)
	fmt.Println(cost, err)
	// Output: 987.50 <nil>
}

// Compare works with slices.SortFunc and slices.MaxFunc.
func ExampleAmount_Compare() {
	balances := []prepaid.Amount{prepaid.MustAmount("9.50"), prepaid.MustAmount("-3"), prepaid.MustAmount("10.05")}
	slices.SortFunc(balances, prepaid.Amount.Compare)
	fmt.Println(balances)
	// Output: [-3.00 9.50 10.05]
}

// An amount in hundredths. The second value reports whether the conversion is exact.
func ExampleAmount_Cents() {
	for _, text := range []string{"25.50", "0.125"} {
		cents, exact := prepaid.MustAmount(text).Cents()
		fmt.Println(cents, exact)
	}
	// Output:
	// 2550 true
	// 0 false
}

// In JSON an amount is a number that always has a point, which shows the service that it is decimal.
func ExampleAmount_MarshalJSON() {
	text, err := json.Marshal(map[string]prepaid.Amount{"amount": prepaid.Cents(1000)})
	check(err)
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

// In binary formats such as gob and CBOR an amount has the same digits. Libraries that copy by reflection copy it too.
func ExampleAmount_MarshalBinary() {
	var stored bytes.Buffer
	check(gob.NewEncoder(&stored).Encode(prepaid.TransferParams{Amount: prepaid.Cents(2550)}))
	var params prepaid.TransferParams
	check(gob.NewDecoder(&stored).Decode(&params))
	fmt.Println(params.Amount)
	// Output: 25.50
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
