package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// operatorsTest stands for a test environment with one operation that the reference does not describe.
func operatorsTest() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /3.0/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.vendor+json")
		_, _ = io.WriteString(w, `{"access_token":"t","token_type":"bearer","expires_in":3600}`)
	})
	mux.HandleFunc("PUT /3.0/accounts/{id}/expiry", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.PathValue("id"), r.Header.Get("Content-Type"), string(body))
		w.WriteHeader(http.StatusNoContent)
	})
	return httptest.NewServer(mux)
}

// The reference names PUT /accounts/{id}/expiry without its shape, so the client has no method for it. Once the operator has
// described it, Do calls it. Here the operator has said: the request has gift_card_expiry, the response has no body, and a
// late repeat would overwrite a newer date. So the call is never repeated: the default.
func ExampleClient_Do() {
	service := operatorsTest()
	defer service.Close()
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: service.URL + "/3.0/", Vendor: "vendor", TestEnvironment: true,
		ClientID: "id", ClientSecret: prepaid.NewSecret("secret"),
	})
	check(err)
	defer client.Close()

	type expiry struct {
		GiftCardExpiry time.Time `json:"gift_card_expiry"`
	}
	err = client.Do(context.Background(), prepaid.RawRequest{
		Method:     "PUT",
		Path:       "/accounts/{id}/expiry", // names the call in errors, logs and metrics
		PathValues: map[string]string{"id": "EA52174568995001"},
		Body:       expiry{time.Date(2029, time.February, 28, 0, 0, 0, 0, time.UTC)},
	}, nil)
	fmt.Println(prepaid.OutcomeOf(err))
	// Output:
	// EA52174568995001 application/vnd.vendor+json {"gift_card_expiry":"2029-02-28T00:00:00Z"}
	// applied
}

// A service for users and a nightly job in one process: two policies, one allowance, and one memory of request IDs. Calls for
// users fail soon; the job has time, and its calls wait until calls for users have a slot.
func ExampleClient_With() {
	srv := loopback(prepaidtest.Options{})
	client, ctx := srv.Client(), context.Background()
	defer srv.Close()

	users, err := client.With(prepaid.Overrides{
		AttemptTimeout: 10 * time.Second,
		Retry:          prepaid.RetryPolicy{MaxAttempts: 2, MaxWait: 50 * time.Millisecond},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	nightly, err := client.With(prepaid.Overrides{
		Lane:  ratelimit.Bulk,
		Retry: prepaid.RetryPolicy{MaxAttempts: 6, MaxThrottleWait: 10 * time.Minute},
	})
	check(err)

	id := seed(srv, "100.00")
	srv.Inject("GET /accounts/{id}", prepaidtest.Respond(503, "unavailable").Times(5))
	_, err = users.Accounts.Get(ctx, id)
	if failure, ok := errors.AsType[*prepaid.CallError](err); ok {
		fmt.Println("users:", failure.Outcome, "after", failure.Attempts)
	}
	account, err := nightly.Accounts.Get(ctx, id)
	check(err)
	fmt.Println("nightly:", account.Balance)
	// Output:
	// users: not_processed after 2
	// nightly: 100.00
}
