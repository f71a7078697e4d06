// Command prepaid-hostile tests a payment loop in any language: it runs copies of a worker against the emulator of package
// prepaidtest, injects failures, and compares every account with the orders.
//
//	go run github.com/cardprograms/prepaid/cmd/prepaid-hostile -h
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	release()
	os.Exit(code)
}
