package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
)

// server is the Postgres of the demonstration: its own, or a named one.
type server struct {
	own     *pgtest.Server // nil for a named one
	address string
	name    string // of a database that ends with the demonstration, next to the named one
}

// openServer uses the named Postgres or starts one. Payments to an emulator end with it, so they never share a database
// with others: a worker of the service would send them.
func openServer(ctx context.Context, emulated bool, options pgtest.Options) (*server, error) {
	s := &server{address: cmp.Or(os.Getenv("PREPAID_PAYOUTS_DATABASE"), os.Getenv("DATABASE_URL"))}
	if s.address != "" && !emulated {
		return s, nil
	}
	if s.address != "" {
		s.name = fmt.Sprintf("payouts_%d", time.Now().UnixNano())
		if err := s.exec(ctx, "create database "+s.name); err != nil {
			return nil, fmt.Errorf("%w: no database could be created: %w", errWrong, err)
		}
		return s, nil
	}
	if !emulated {
		return nil, fmt.Errorf("%w: PREPAID_PAYOUTS_DATABASE is required: what was paid must outlive this program", errWrong)
	}
	own, err := pgtest.Run(ctx, options)
	if errors.Is(err, pgtest.ErrNotInstalled) {
		return nil, fmt.Errorf("%w: no Postgres is installed: install it (Debian: apt install postgresql; "+
			"macOS: brew install postgresql@17), or name one in PREPAID_PAYOUTS_DATABASE", errWrong)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errWrong, err)
	}
	return &server{own: own, address: own.URL()}, nil
}

func (s *server) exec(ctx context.Context, statement string) error {
	config, err := pgx.ParseConfig(s.address)
	if err != nil {
		return errors.New("PREPAID_PAYOUTS_DATABASE cannot be read") // err may have the password
	}
	connection, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	_, err = connection.Exec(ctx, statement)
	return errors.Join(err, connection.Close(ctx))
}

func (s *server) close(ctx context.Context) error {
	if s.own != nil {
		return s.own.Stop()
	}
	if s.name != "" {
		return s.exec(ctx, "drop database "+s.name+" with (force)")
	}
	return nil
}

func (s *server) String() string {
	if s.own != nil {
		return "its own Postgres"
	}
	return "the named Postgres"
}
