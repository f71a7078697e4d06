package main

import (
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
)

// settings are what every process needs. They come from the environment, so that no secret is on a command line.
type settings struct {
	config   prepaid.Config
	float    prepaid.AccountID // pays
	call     time.Duration     // limit of a payment with all its repeats
	database string
	name     string         // of the database, instead of that in database; empty for that
	key      prepaid.Secret // 32 bytes in hex
}

func settingsFromEnv() (settings, error) {
	s := settings{
		float:    prepaid.AccountID(os.Getenv("PREPAID_FLOAT_ACCOUNT")),
		database: cmp.Or(os.Getenv("PREPAID_PAYOUTS_DATABASE"), os.Getenv("DATABASE_URL")), name: os.Getenv("PREPAID_PAYOUTS_DATABASE_NAME"),
	}
	var err error
	if s.config, err = prepaid.ConfigFromEnv(); err != nil {
		return s, fmt.Errorf("%w: %w", errWrong, err)
	}
	if s.call, err = callFromEnv(); err != nil {
		return s, err
	}
	if s.key, err = keyFromEnv(); err != nil {
		return s, err
	}
	switch {
	case s.database == "":
		return s, fmt.Errorf("%w: PREPAID_PAYOUTS_DATABASE is required", errWrong)
	case s.float == "":
		return s, fmt.Errorf("%w: PREPAID_FLOAT_ACCOUNT is required", errWrong)
	}
	return s, nil
}

func callFromEnv() (time.Duration, error) {
	call, err := time.ParseDuration(cmp.Or(os.Getenv("PREPAID_PAYOUTS_CALL"), "2m"))
	if err != nil || call <= 0 {
		return 0, fmt.Errorf("%w: PREPAID_PAYOUTS_CALL must be a duration above zero", errWrong)
	}
	return call, nil
}

func keyFromEnv() (prepaid.Secret, error) {
	key := os.Getenv("PREPAID_PAYOUTS_KEY")
	if name := os.Getenv("PREPAID_PAYOUTS_KEY_FILE"); key == "" && name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			return prepaid.Secret{}, fmt.Errorf("%w: PREPAID_PAYOUTS_KEY_FILE: %w", errWrong, err)
		}
		key = strings.TrimSpace(string(text))
	}
	if raw, err := hex.DecodeString(key); err != nil || len(raw) != 32 {
		return prepaid.Secret{}, fmt.Errorf("%w: PREPAID_PAYOUTS_KEY_FILE must have 64 hex digits", errWrong)
	}
	return prepaid.NewSecret(key), nil
}

// environment passes the settings to a process.
func (s settings) environment() []string {
	return append(os.Environ(),
		"PREPAID_BASE_URL="+s.config.BaseURL, "PREPAID_VENDOR="+s.config.Vendor,
		"PREPAID_ENVIRONMENT="+string(s.config.Environment),
		"PREPAID_CLIENT_ID="+s.config.Credentials.ClientID,
		"PREPAID_CLIENT_SECRET="+s.config.Credentials.ClientSecret.Reveal(),
		"PREPAID_ATTEMPT_TIMEOUT="+s.config.AttemptTimeout.String(),
		"PREPAID_RETRY_IN_FLIGHT_WAIT="+s.config.Retry.InFlightWait.String(),
		"PREPAID_RATE_SHARE="+strconv.FormatFloat(s.config.RateShare, 'g', -1, 64),
		"PREPAID_FLOAT_ACCOUNT="+string(s.float), "PREPAID_PAYOUTS_CALL="+s.call.String(),
		"PREPAID_PAYOUTS_DATABASE="+s.database, "PREPAID_PAYOUTS_DATABASE_NAME="+s.name, "PREPAID_PAYOUTS_KEY="+s.key.Reveal(),
	)
}

// connect returns a pool of connections. It makes none yet.
func (s settings) connect(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(s.database)
	if err != nil {
		return nil, fmt.Errorf("%w: PREPAID_PAYOUTS_DATABASE cannot be read", errWrong) // err may have the password
	}
	config.MaxConns = max(config.MaxConns, 10) // workers need six
	config.ConnConfig.Database = cmp.Or(s.name, config.ConnConfig.Database)
	return pgxpool.NewWithConfig(ctx, config)
}

//go:embed orders.sql
var tables string

// migrate creates the tables of the application and those of the payments, where they are missing.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, tables); err != nil {
		return err
	}
	return prepaidpg.Migrate(ctx, pool, "")
}

// openStore opens the payments. Bank details are encrypted under one key and compared by digests under another; both are
// derived from the one key that must be kept.
func (s settings) openStore(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) (*prepaidpg.Store, error) {
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
		Seal: aead, DigestKey: prepaid.NewSecret(hex.EncodeToString(digest)), CallTimeout: s.call, Logger: log,
	})
}

func (s settings) derive(purpose string) ([]byte, error) {
	key, err := hex.DecodeString(s.key.Reveal())
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, key, nil, "payouts "+purpose, 32)
}
