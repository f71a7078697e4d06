package prepaidtest_test

import (
	"encoding/json"
	"fmt"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// The document for generators of clients.
func ExampleOpenAPI() {
	var document struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]struct {
			Post struct {
				Safety string `json:"x-safety"`
			} `json:"post"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(prepaidtest.OpenAPI(), &document); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(document.OpenAPI, document.Paths["/accounts/{id}/transfer"].Post.Safety)
	// Output: 3.1.0 keyed
}
