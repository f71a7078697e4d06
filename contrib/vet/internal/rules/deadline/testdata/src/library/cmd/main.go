package main

import (
	"net/http"

	"library"
)

func main() { // want `in package library, Accounts.Transfer at library.go:12 is called with the context of the HTTP request` `Accounts.Transfer at library.go:16 is called`
	_ = http.ListenAndServe("", &library.Handler{})
}
