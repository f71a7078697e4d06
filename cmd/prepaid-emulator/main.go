// Command prepaid-emulator runs the emulator of package prepaidtest as a program: the service on loopback, with a page
// at / that shows its state.
//
//	go run github.com/cardprograms/prepaid/cmd/prepaid-emulator -h
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, release) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}
