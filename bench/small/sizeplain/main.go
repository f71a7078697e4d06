// Program sizeplain reads an account with the standard library: the baseline of a program's size.
package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	response, err := http.Get(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	defer response.Body.Close()
	var account struct{ ID string }
	if json.NewDecoder(response.Body).Decode(&account) != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString(account.ID)
}
