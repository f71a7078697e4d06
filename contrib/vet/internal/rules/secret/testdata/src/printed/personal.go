package printed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/cardprograms/prepaid"
)

// What may be shown to a user stays in a log and in an error.
func personal(w io.Writer, account *prepaid.Account, m *prepaid.Message) error {
	fmt.Println(account.Cardholder.FirstName)
	fmt.Fprintln(w, account.Cardholder.FirstName)
	slog.Info("account", "id", account.ID, "name", account.Cardholder.FirstName) // want `personal data or a body \(Cardholder.FirstName\) goes into a log`
	data, err := json.Marshal(account)
	if err != nil {
		return err
	}
	slog.Info("account", "json", string(data)) // want `JSON of Account`
	if raw, err := json.Marshal(m); err == nil {
		return fmt.Errorf("message %s", raw) // want `JSON of Message`
	}
	if balance, err := json.Marshal(account.Balance); err == nil {
		slog.Info("account", "balance", string(balance))
	}
	return nil
}

func refused(err error) error {
	if api, ok := errors.AsType[*prepaid.APIError](err); ok {
		return fmt.Errorf("%d: %s", api.StatusCode, api.Body) // want `APIError.Body`
	}
	return err
}

func built(s prepaid.Secret) {
	var b strings.Builder
	b.WriteString("secret=")
	b.WriteString(s.Reveal())
	slog.Info(b.String()) // want `the text of a secret`
}
