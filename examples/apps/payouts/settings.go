package main

import (
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
)

// settings are the settings of every process. They come from the environment, so that no secret is on a command line.
type settings struct {
	config   prepaid.Config
	float    prepaid.AccountID // payer
	call     time.Duration     // limit of a payment with its repeats
	database string
	key      prepaid.Secret // 32 bytes in hex
	log      *slog.Logger
}

func settingsFromEnv() (settings, error) {
	s := settings{
		float:    prepaid.AccountID(os.Getenv("PREPAID_FLOAT_ACCOUNT")),
		database: os.Getenv("PREPAID_PAYOUTS_DATABASE"),
		log:      slog.Default(),
	}
	var err error
	if s.config, err = prepaid.ConfigFromEnv(); err != nil {
		return s, err
	}
	key, err := os.ReadFile(os.Getenv("PREPAID_PAYOUTS_KEY_FILE"))
	if err != nil {
		return s, fmt.Errorf("PREPAID_PAYOUTS_KEY_FILE: %w", err)
	}
	s.key = prepaid.NewSecret(strings.TrimSpace(string(key)))
	s.call, err = time.ParseDuration(cmp.Or(os.Getenv("PREPAID_PAYOUTS_CALL"), "2m"))
	switch raw, invalid := hex.DecodeString(s.key.Reveal()); {
	case invalid != nil || len(raw) != 32:
		return s, errors.New("PREPAID_PAYOUTS_KEY_FILE must have 64 hex digits")
	case err != nil || s.call <= 0:
		return s, errors.New("PREPAID_PAYOUTS_CALL must be a duration above zero")
	case s.database == "":
		return s, errors.New("PREPAID_PAYOUTS_DATABASE is required")
	case s.float == "":
		return s, errors.New("PREPAID_FLOAT_ACCOUNT is required")
	}
	return s, nil
}

// connect returns a pool of connections. It does not connect yet.
func (s settings) connect(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(s.database)
	if err != nil {
		return nil, fmt.Errorf("%w: PREPAID_PAYOUTS_DATABASE cannot be read", errWrong) // err may contain the password
	}
	config.MaxConns = max(config.MaxConns, 10) // the workers of a process need seven connections
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

// openStore opens the store of payments. One key encrypts bank details; another key makes digests, with which the store
// compares bank details. Both keys are derived from the key in the settings.
func (s settings) openStore(ctx context.Context, pool *pgxpool.Pool) (*prepaidpg.Store, error) {
	seal, err := s.derive("seal")
	if err != nil {
		return nil, err
	}
	digest, err := s.derive("digest")
	if err != nil {
		return nil, err
	}
	aead, err := journal.NewAEAD(seal)
	if err != nil {
		return nil, err
	}
	return prepaidpg.Open(ctx, pool, prepaidpg.Options{
		Seal: aead, DigestKey: prepaid.NewSecret(hex.EncodeToString(digest)), CallTimeout: s.call, Logger: s.log,
	})
}

func (s settings) derive(purpose string) ([]byte, error) {
	key, err := hex.DecodeString(s.key.Reveal())
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, key, nil, "payouts "+purpose, 32)
}
