package prepaidpg_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/ratelimit"
)

// Set up every replica behind one address like this. Postgres need not be running yet.
func ExampleNewLimiter() {
	pool, err := pgxpool.New(context.Background(), "postgres://app@127.0.0.1/payments")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	limiter, err := prepaidpg.NewLimiter(pool, "prepaid", ratelimit.SharedOptions{Name: "192.0.2.1", Replicas: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer limiter.Close()
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL:  "https://service.example/3.0/",
		Vendor:   "vendor",
		ClientID: "id", ClientSecret: prepaid.NewSecret("secret"),
		Limiter: limiter,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	fmt.Println("ready")
	// Output: ready
}
