package prepaid_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cardprograms/prepaid"
)

// A birthday is the same day everywhere. It is sent as midnight UTC, the only form the service has.
func ExampleDate() {
	born := prepaid.Date{Year: 1990, Month: time.May, Day: 1}
	wire, err := json.Marshal(born)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(born, string(wire), born.Before(prepaid.Date{Year: 2008, Month: time.November, Day: 21}))
	// Output: 1990-05-01 "1990-05-01T00:00:00Z" true
}

// A day that does not exist is refused.
func ExampleParseDate() {
	for _, text := range []string{"2024-02-29", "2026-02-29", "1/5/1990"} {
		day, err := prepaid.ParseDate(text)
		fmt.Println(day, errors.Is(err, prepaid.ErrDateSyntax))
	}
	// Output:
	// 2024-02-29 false
	//  true
	//  true
}

// The day of a moment depends on where one stands, so say where.
func ExampleDateOf() {
	moment := time.Date(2026, time.October, 1, 20, 0, 0, 0, time.UTC)
	fmt.Println(prepaid.DateOf(moment), prepaid.DateOf(moment.In(time.FixedZone("AEST", 10*60*60))))
	// Output: 2026-10-01 2026-10-02
}

// From a day back to a moment: the bounds of a day's history in the program's own zone.
func ExampleDate_Time() {
	sydney := time.FixedZone("AEST", 10*60*60)
	day := prepaid.Date{Year: 2026, Month: time.October, Day: 1}
	params := prepaid.ListTransactionsParams{From: day.Time(sydney), Before: day.Time(sydney).AddDate(0, 0, 1)}
	fmt.Println(params.From.UTC().Format(time.RFC3339), params.Before.UTC().Format(time.RFC3339))
	// Output: 2026-09-30T14:00:00Z 2026-10-01T14:00:00Z
}

// A date-time of the service is read by the day as written, and not shifted to another zone.
func ExampleDate_UnmarshalText() {
	var born prepaid.Date
	for _, text := range []string{"1990-05-01", "1990-05-01T00:00:00Z", "1990-05-01T23:30:00+10:00"} {
		if err := born.UnmarshalText([]byte(text)); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(born)
	}
	// Output:
	// 1990-05-01
	// 1990-05-01
	// 1990-05-01
}

// A secret prints nowhere. Only Reveal gives it away, and is easy to find in a review.
func ExampleSecret() {
	credentials := prepaid.Credentials{ClientID: "acme", ClientSecret: prepaid.NewSecret("s3cret")}
	fmt.Printf("%+v\n", credentials)
	printLogger().Info("starting", slog.Any("secret", credentials.ClientSecret))
	text, err := json.Marshal(credentials)
	fmt.Println(string(text), err)
	fmt.Println(len(credentials.ClientSecret.Reveal()))
	// Output:
	// {ClientID:acme ClientSecret:[REDACTED]}
	// level=INFO msg=starting secret=[REDACTED]
	// {"client_id":"acme","client_secret":"[REDACTED]"} <nil>
	// 6
}

// Secrets are compared with Equal, in a time that does not tell where they differ. They have no ==.
func ExampleSecret_Equal() {
	stored, given := prepaid.NewSecret("s3cret"), prepaid.NewSecret("guess")
	fmt.Println(stored.Equal(given), stored.Equal(prepaid.NewSecret("s3cret")), prepaid.Secret{}.IsZero())
	// Output: false true true
}

// A configuration file can hold a secret, but a dumped one is not mistaken for it.
func ExampleSecret_UnmarshalText() {
	for _, file := range []string{`{"client_secret": "s3cret"}`, `{"client_secret": "[REDACTED]"}`} {
		var credentials prepaid.Credentials
		err := json.Unmarshal([]byte(file), &credentials)
		fmt.Println(errors.Is(err, prepaid.ErrRedactedSecret), credentials.ClientSecret.IsZero())
	}
	// Output:
	// false false
	// true true
}

// A random id for a payment that nothing else names. Store it with the params before the first call.
func ExampleNewRequestID() {
	id := prepaid.NewRequestID()
	day, ok := id.Time()
	fmt.Println(len(id), ok, time.Since(day) < 25*time.Hour, id != prepaid.NewRequestID())
	// Output: 36 true true true
}

// The day in an id says until when it can be sent: 22 days, well before the service forgets it.
func ExampleRequestID_Time() {
	id := prepaid.DeriveRequestID(time.Date(2026, time.November, 20, 9, 30, 0, 0, time.UTC), "payroll-2026-11", "emp-7")
	day, ok := id.Time()
	fmt.Println(day, ok)
	_, ok = prepaid.RequestID("invoice-7").Time() // your own form: allowed, and its age is yours to watch
	fmt.Println(ok)
	// Output:
	// 2026-11-20 00:00:00 +0000 UTC true
	// false
}

// Codes are four digits, however they were written.
func ExampleParseMCC() {
	for _, text := range []string{"5411", "742", "groceries"} {
		code, err := prepaid.ParseMCC(text)
		fmt.Println(code, err)
	}
	// Output:
	// 5411 <nil>
	// 0742 <nil>
	//  prepaid: merchant category code: not four digits
}

// A value that the reference does not list is kept as it came, and can be told apart.
func ExampleAccountStatus_Known() {
	var account prepaid.AccountSummary
	if err := json.Unmarshal([]byte(`{"status": "frozen", "balance": 1.00}`), &account); err != nil {
		fmt.Println(err)
		return
	}
	switch {
	case account.Status == prepaid.AccountStatusActive:
		fmt.Println("pay")
	case !account.Status.Known():
		fmt.Println("for review:", account.Status)
	}
	// Output: for review: frozen
}
