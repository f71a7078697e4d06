// Package vault is a helper in another package.
package vault

import (
	"fmt"
	"log"

	"github.com/cardprograms/prepaid"
)

func Password(c prepaid.Config) string { return c.ClientSecret.Reveal() } // want Password:"reveals a secret"

func DSN(user, password string) string { // want DSN:"passes text on"
	return fmt.Sprintf("postgres://%s:%s@db/payments", user, password)
}

func Audit(what string, args ...any) { // want Audit:"prints text"
	log.Printf(what, args...)
}

func Mask(text string) string { return text[:2] + "***" }

type Settings struct{ secret prepaid.Secret }

func (s *Settings) Header() (string, string, error) { // want Header:"reveals a secret"
	return "Authorization", "Bearer " + s.secret.Reveal(), nil
}
