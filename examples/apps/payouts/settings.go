package main

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	_ "embed" // orders.sql
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
)

// settings are the same on each machine.
type settings struct {
	config   prepaid.Config
	float    prepaid.AccountID // pays
	database string
	key      prepaid.Secret // 32 bytes in hex: losing it loses the payments
}

func settingsFromEnv() (*settings, error) {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	config.UserAgent, config.Logger = "payouts", slog.Default()
	key, err := os.ReadFile(os.Getenv("PAYOUTS_KEY_FILE"))
	if err != nil {
		return nil, fmt.Errorf("PAYOUTS_KEY_FILE: %w", err)
	}
	s := &settings{
		config: config, float: prepaid.AccountID(os.Getenv("FLOAT_ACCOUNT")), database: os.Getenv("PAYOUTS_DATABASE"),
		key: prepaid.NewSecret(strings.TrimSpace(string(key))),
	}
	if s.float == "" || s.database == "" {
		return nil, errors.New("FLOAT_ACCOUNT and PAYOUTS_DATABASE are required")
	}
	return s, nil
}

// connect returns a pool of connections.
func (s *settings) connect(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(s.database)
	if err != nil {
		return nil, errors.New("PAYOUTS_DATABASE cannot be read") // err may contain the password
	}
	config.MaxConns = max(config.MaxConns, 13) // the workers of a process need ten connections
	return pgxpool.NewWithConfig(ctx, config)
}

//go:embed orders.sql
var tables string

// migrate creates the tables of the application and of the payments, unless they exist.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, tables); err != nil {
		return err
	}
	return prepaidpg.Migrate(ctx, pool, "")
}

// openStore opens the store of payments. One key encrypts the params; another makes the digests by which the store compares them.
func (s *settings) openStore(ctx context.Context, pool *pgxpool.Pool) (*prepaidpg.Store, error) {
	key, err := hex.DecodeString(s.key.Reveal())
	if err != nil || len(key) != 32 {
		return nil, errors.New("the key must have 64 hex digits")
	}
	seal, err := hkdf.Key(sha256.New, key, nil, "payouts seal", 32)
	if err != nil {
		return nil, err
	}
	digest, err := hkdf.Key(sha256.New, key, nil, "payouts digest", 32)
	if err != nil {
		return nil, err
	}
	aead, err := journal.NewAEAD(seal)
	if err != nil {
		return nil, err
	}
	return prepaidpg.Open(ctx, pool, prepaidpg.Options{Seal: aead, DigestKey: prepaid.NewSecret(hex.EncodeToString(digest)), Logger: s.config.Logger})
}
