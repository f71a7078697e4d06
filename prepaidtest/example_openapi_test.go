package prepaidtest_test

import (
	"encoding/json"
	"fmt"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// The document for generators of clients, with the vendor's media type.
func ExampleOpenAPI() {
	text, err := prepaidtest.OpenAPI(prepaidtest.Options{Vendor: "acme"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var document struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			RequestBody struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		fmt.Println(err)
		return
	}
	transfer := document.Paths["/accounts/{id}/transfer"]["post"]
	for media := range transfer.RequestBody.Content {
		fmt.Println(document.OpenAPI, transfer.OperationID, media)
	}
	// Output: 3.1.0 transfer application/vnd.acme+json
}
