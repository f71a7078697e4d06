package prepaidredis_test

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cardprograms/prepaid"
	prepaidredis "github.com/cardprograms/prepaid/contrib/redis"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/webhook"
)

// Set up every replica behind one address like this. Redis need not be running yet.
func ExampleNewLimiter() {
	shared := redis.NewClient(&redis.Options{
		Addr:                  "127.0.0.1:6379",
		ContextTimeoutEnabled: true,
		DialTimeout:           time.Second,
	})
	defer shared.Close()
	limiter, err := prepaidredis.NewLimiter(shared, ratelimit.SharedOptions{Replicas: 4})
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

// A client that would not end its calls with their context is refused.
func ExampleNewClaims() {
	shared := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer shared.Close()
	_, err := prepaidredis.NewClaims(shared, "", webhook.ClaimOptions{})
	fmt.Println(err)
	// Output: prepaid: invalid input: client must have ContextTimeoutEnabled
}
