// Program sizeplain reads an account with the standard library: the baseline of a program's size.
package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	response, err := http.Get(os.Args[1]) //nolint:gosec,noctx // it is only built
	if err != nil {
		os.Exit(1)
	}
	var account struct{ ID string }
	err = json.NewDecoder(response.Body).Decode(&account)
	_ = response.Body.Close()
	if err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString(account.ID)
}
