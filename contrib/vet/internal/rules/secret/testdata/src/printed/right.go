package printed

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/cardprograms/prepaid"

	"printed/vault"
)

func itself(s prepaid.Secret, pin prepaid.PINSecret, config prepaid.Config) {
	fmt.Println(s, pin)
	slog.Info("start", "secret", s, "config", config)
	log.Printf("%+v", config)
}

func used(ctx context.Context, req *http.Request, db *sql.DB, s prepaid.Secret, w io.Writer) error {
	req.Header.Set("Authorization", "Bearer "+s.Reveal())
	req.SetBasicAuth("id", s.Reveal())
	mac := hmac.New(sha256.New, []byte(s.Reveal()))
	fmt.Fprintf(mac, "%s", s.Reveal())
	if err := os.Setenv("PREPAID_CLIENT_SECRET", s.Reveal()); err != nil {
		return fmt.Errorf("environment: %w", err)
	}
	command := exec.CommandContext(ctx, "worker")
	command.Env = append(os.Environ(), "PREPAID_CLIENT_SECRET="+s.Reveal())
	if _, err := db.ExecContext(ctx, "update settings set secret = $1", s.Reveal()); err != nil {
		return err
	}
	if s.Reveal() == "" {
		return errors.New("the secret is empty")
	}
	fmt.Fprintf(w, "AUTH %s\r\n", s.Reveal()) // a protocol
	log.Printf("a secret of %d bytes", len(s.Reveal()))
	log.Printf("fingerprint %x", sha256.Sum256([]byte(s.Reveal())))
	log.Print(strings.ReplaceAll("some text", s.Reveal(), "[REDACTED]"))
	log.Print("secret ", s.Reveal()[:4], "...", vault.Mask(s.Reveal()))
	return nil
}

func token(ctx context.Context, client *prepaid.Client, req *http.Request) error {
	token, err := client.Token(ctx)
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	token.SetAuthHeader(req)
	slog.Info("token", "expiry", token.Expiry, "type", token.TokenType, "valid", token.Valid())
	return nil
}

type settings struct{ password prepaid.Secret }

func (s settings) String() string { return "settings" }

func (s settings) open() (*sql.DB, error) {
	db, err := sql.Open("pgx", vault.DSN("payments", s.password.Reveal()))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s, err)
	}
	return db, nil
}

//prepaidvet:ignore secret the operator asked for it with -show-secret
func shown(s prepaid.Secret) { fmt.Println(s.Reveal()) }
