package printed

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/cardprograms/prepaid"

	"example.com/logging"
	"github.com/sirupsen/logrus"
	"go.uber.org/zap"
	"printed/vault"
)

type service struct {
	config prepaid.Config
	log    *slog.Logger
	out    interface{ Infof(string, ...any) }
}

type logger interface{ Infof(string, ...any) }

func plain(s prepaid.Secret) {
	fmt.Println("secret:", s.Reveal())                 // want `the text of a secret \(Secret.Reveal\) goes into fmt.Println: it stays in logs.*#secret$`
	fmt.Fprintf(os.Stderr, "secret: %s\n", s.Reveal()) // want `goes into fmt.Fprintf`
	log.Print("secret: " + s.Reveal())                 // want `goes into a log \(log.Print\)`
	println(s.Reveal())                                // want `goes into println`
}

func (s *service) method(ctx context.Context) {
	s.log.InfoContext(ctx, "starting", "secret", s.config.ClientSecret.Reveal()) // want `goes into a log \(Logger.InfoContext\)`
	slog.Info("starting", slog.String("secret", s.config.ClientSecret.Reveal())) // want `goes into a log \(slog.String\)`
}

func local(s prepaid.Secret) error {
	text := strings.TrimSpace(s.Reveal())
	if len(text) < 20 {
		return fmt.Errorf("secret %q is too short", text) // want `goes into an error \(fmt.Errorf\)`
	}
	if strings.Contains(text, " ") {
		return errors.New("malformed secret: " + text) // want `goes into an error \(errors.New\)`
	}
	return nil
}

func broken(pin prepaid.PINSecret) {
	if text := pin.PIN.Reveal(); len(text) != 4 {
		panic("PIN " + text) // want `goes into a panic`
	}
}

func handler(w http.ResponseWriter, r *http.Request, client *prepaid.Client) {
	token, err := client.Token(r.Context())
	if err != nil {
		return
	}
	log.Printf("calling with %v", token)                      // want `a secret \(Client.Token\) goes into a log`
	slog.Debug("calling", "authorization", token.AccessToken) // want `a secret \(Client.Token\)`
}

func goroutine(s prepaid.Secret, l logger) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("id:"+s.Reveal()))
	go func() {
		log.Println(basic) // want `goes into a log`
	}()
	defer l.Infof("done with %s", basic) // want `goes into a log \(logger.Infof\)`
}

func whole(s prepaid.Secret, id string) { // want whole:"prints text"
	credentials := struct{ ID, Secret string }{id, s.Reveal()}
	fmt.Printf("%+v\n", credentials) // want `goes into fmt.Printf`
	headers := map[string]string{"Authorization": "Bearer " + s.Reveal()}
	slog.Info("request", "headers", headers) // want `goes into a log`
	var b strings.Builder
	fmt.Fprintf(&b, "id=%s secret=%s", id, s.Reveal())
	log.Print(b.String()) // want `goes into a log`
}

func literal(s prepaid.Secret) {
	print := func(text string) { fmt.Println(text) }
	print(s.Reveal()) // want `goes into a function literal, which prints it`
}

func wrapped(c prepaid.Config, s *vault.Settings) error {
	_, header, err := s.Header()
	if err != nil {
		return err
	}
	logging.Infof("header %s", header) // want `a secret \(Settings.Header\) goes into a log \(logging.Infof\)`
	vault.Audit("header %s", header)   // want `goes into vault.Audit, which logs it`
	dsn := vault.DSN("payments", vault.Password(c))
	return fmt.Errorf("cannot open %s", dsn) // want `a secret \(vault.Password\) goes into an error`
}

func libraries(s prepaid.Secret, key prepaid.EphemeralKey) {
	zap.L().Info("start", zap.String("secret", s.Reveal()))       // want `goes into a log \(zap.String\)`
	zap.L().Sugar().Infow("start", "secret", s.Reveal())          // want `goes into a log`
	logrus.WithField("secret", s.Reveal()).Info("start")          // want `goes into a log`
	logrus.WithFields(logrus.Fields{"secret": s.Reveal()}).Info() // want `goes into a log`
	logrus.Infof("key %x", key.Bytes())                           // want `a secret \(EphemeralKey.Bytes\) goes into a log`
}

func generic[T fmt.Stringer](s prepaid.Secret, of T) string { // want generic:"reveals a secret"
	text := s.Reveal()
	log.Printf("%s of %s", text, of) // want `goes into a log`
	return text
}
