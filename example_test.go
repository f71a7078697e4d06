package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// emulator starts the service that the examples call, in memory. Close it at the end. Reports and clearings take no time.
func emulator(options prepaidtest.Options) *prepaidtest.Server {
	options.InMemory = true
	return loopback(options)
}

// loopback starts the service on a socket, for examples that need its address or repeat a call: there, pauses take no time.
func loopback(options prepaidtest.Options) *prepaidtest.Server {
	options.ReportDelay, options.SimulationDelay = -1, -1
	srv, err := prepaidtest.Start(options)
	check(err)
	return srv
}

// service starts the emulator without options, and returns it with a client. Close it at the end.
func service() (*prepaidtest.Server, *prepaid.Client, context.Context) {
	srv := emulator(prepaidtest.Options{})
	return srv, srv.Client(), context.Background()
}

// invoice describes a payment with a new request ID.
func invoice(to prepaid.AccountID, amount string) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount(amount), DestinationAccountID: to,
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	}
}

// ada is a cardholder with the required members.
func ada() *prepaid.Cardholder {
	return &prepaid.Cardholder{
		FirstName: "Ada", LastName: "Lovelace", DateOfBirth: prepaid.Date{Year: 1990, Month: time.May, Day: 1},
		PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
	}
}

// check ends an example that fails. Your program handles the error instead.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// seed adds an active account of company 42.
func seed(srv *prepaidtest.Server, balance string) prepaid.AccountID {
	return srv.AddAccount(prepaidtest.SeedAccount{Balance: balance})
}

// Make one client per process. All faults of its configuration are reported at once, before any I/O.
func ExampleNewClient() {
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL:         "https://api.example.com/3.0/",
		Vendor:          "vendor", // the word in application/vnd.<vendor>+json
		TestEnvironment: true,
		ClientID:        "acme", ClientSecret: prepaid.NewSecret("s3cret"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	fmt.Println(client)

	_, err = prepaid.NewClient(prepaid.Config{BaseURL: "http://api.example.com"})
	fmt.Println(err)
	// Output:
	// prepaid.Client{https://api.example.com/3.0}
	// prepaid: invalid input: base_url must be https, or http on loopback; base_url must end in /3.0/; vendor is required; client_id is required; client_secret is required
}

// Read the configuration from the environment, as in a container. The secret never prints.
func ExampleConfigFromEnv() {
	restore := setEnvironment(map[string]string{
		"PREPAID_BASE_URL": "https://test.example.com/3.0/", "PREPAID_VENDOR": "vendor", "PREPAID_ENVIRONMENT": "test",
		"PREPAID_CLIENT_ID": "acme", "PREPAID_CLIENT_SECRET": "s3cret", // better: PREPAID_CLIENT_SECRET_FILE
	})
	defer restore()
	config, err := prepaid.ConfigFromEnv()
	fmt.Println(config.BaseURL, config.TestEnvironment, config.ClientSecret, err)
	// Output: https://test.example.com/3.0/ true [REDACTED] <nil>
}

// Check at startup that address, credentials, whitelist, media type and clock are right.
func ExampleClient_Check() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client := srv.Client()

	result, err := client.Check(context.Background())
	if err != nil {
		fmt.Println("not ready:", err)
		return
	}
	fmt.Println(result.MediaType, result.ClockSkew, result.TokenLifetime.Round(time.Hour))
	// Output: application/vnd.vendor+json 0s 1h0m0s
}

// A loop over payments needs only the outcome of an error.
func ExampleOutcomeOf() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, from, to := srv.Client(), seed(srv, "100.00"), seed(srv, "0")

	pay := func(amount string) error {
		_, err := client.Accounts.Transfer(context.Background(), from, invoice(to, amount))
		return err
	}
	decide := func(err error) string {
		switch prepaid.OutcomeOf(err) {
		case prepaid.OutcomeApplied:
			return "done"
		case prepaid.OutcomeRejected:
			return "refused: nothing moved; fix the cause, or withdraw the payment"
		case prepaid.OutcomeNotProcessed:
			return "nothing moved, and the request is not at fault: the same params again, once the cause is gone"
		}
		return "it may have moved: send the same params again, or look"
	}
	fmt.Println("25.50: ", decide(pay("25.50")))
	fmt.Println("900.00:", decide(pay("900.00")))
	fmt.Println("-1.00: ", decide(pay("-1.00")))
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(500, "server_error"))
	fmt.Println("500:   ", decide(pay("1.00")))
	client.Close()
	fmt.Println("closed:", decide(pay("1.00")))
	// Output:
	// 25.50:  done
	// 900.00: refused: nothing moved; fix the cause, or withdraw the payment
	// -1.00:  refused: nothing moved; fix the cause, or withdraw the payment
	// 500:    it may have moved: send the same params again, or look
	// closed: nothing moved, and the request is not at fault: the same params again, once the cause is gone
}

// Every code of the service can be compared with errors.Is.
func ExampleErrorCode() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client := srv.Client()

	_, err := client.Hooks.Get(context.Background(), "no-such-hook")
	if errors.Is(err, prepaid.CodeInvalidHookID) {
		fmt.Println("register it first")
	}
	if apiError, ok := errors.AsType[*prepaid.APIError](err); ok {
		fmt.Println(apiError.StatusCode, apiError.Code)
	}
	fmt.Println(err)
	// Output:
	// register it first
	// 400 invalid_hook_id
	// prepaid: Hooks.Get: rejected: status 400 (invalid_hook_id): the hook does not exist
}

// Amounts from a file or a form are exact, or an error. Each has only one spelling.
func ExampleParseAmount() {
	price, err := prepaid.ParseAmount("19.90")
	if err != nil {
		fmt.Println(err)
		return
	}
	total, err := price.Mul(3)
	if err != nil {
		fmt.Println(err) // never rounded: a value that does not fit is an error
		return
	}
	fmt.Println(total, total == prepaid.Cents(5970))
	for _, text := range []string{"1e3", "010", "0.1"} {
		amount, err := prepaid.ParseAmount(text)
		fmt.Println(amount, err)
	}
	// Output:
	// 59.70 true
	// 0.00 prepaid: amount: not a plain decimal number
	// 0.00 prepaid: amount: not a plain decimal number
	// 0.10 <nil>
}
