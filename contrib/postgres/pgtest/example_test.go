package pgtest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
)

// A server for a program, or for all tests of a package from its TestMain.
func ExampleRun() {
	ctx := context.Background()
	server, err := pgtest.Run(ctx, pgtest.Options{})
	if errors.Is(err, pgtest.ErrNotInstalled) {
		fmt.Println("Install it, such as with: apt-get install postgresql")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Stop() }()
	connection, err := pgx.Connect(ctx, server.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer connection.Close(ctx)
	if err := server.Kill(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("after a crash:", connection.Ping(ctx) != nil)
	fmt.Println("restarted:", server.Restart(ctx))
}
