package right

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
)

var shared = sync.OnceValues(func() (*prepaid.Client, error) {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	return prepaid.NewClient(config)
})

func Shared(w http.ResponseWriter, r *http.Request) {
	c, err := shared()
	if err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	a, err := c.Accounts.Get(r.Context(), "EA1")
	if err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	json.NewEncoder(w).Encode(a)
}

type Lazy struct {
	once   sync.Once
	client *prepaid.Client
	err    error
	config prepaid.Config
}

func (l *Lazy) get() (*prepaid.Client, error) {
	l.once.Do(func() { l.client, l.err = prepaid.NewClient(l.config) })
	return l.client, l.err
}

func (l *Lazy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := l.get()
	if err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	ctx, cancel := bounded(r)
	defer cancel()
	if _, err := c.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(r.FormValue("id"))}); err != nil {
		http.Error(w, err.Error(), 500)
	}
}

func bounded(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), 2*time.Minute)
}

func Provide(lookup func(string) string) (*Service, error) {
	c, err := prepaid.NewClient(prepaid.Config{BaseURL: lookup("url"), Vendor: "acme"})
	if err != nil {
		return nil, err
	}
	return &Service{client: c}, nil
}

func TestCredentials(w http.ResponseWriter, r *http.Request) {
	var config prepaid.Config
	if err := json.NewDecoder(r.Body).Decode(&config); err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	c, err := prepaid.NewClient(config)
	if err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	defer c.Close()
	if _, err := c.Check(r.Context()); err != nil {
		http.Error(w, err.Error(), 400)
	}
}

func (s *Service) Accept(w http.ResponseWriter, r *http.Request) {
	id := prepaid.RequestID(r.FormValue("id"))
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if _, err := s.client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: id}); err != nil {
			s.fail(ctx, "pay", err)
		}
	}()
	w.WriteHeader(http.StatusAccepted)
}

func Secrets(req *http.Request, s prepaid.Secret, db func(string) error) error {
	req.Header.Set("X-Key", s.Reveal())
	req.Header.Set("Authorization", fmt.Sprintf("Basic %s", base64.StdEncoding.EncodeToString([]byte("me:"+s.Reveal()))))
	mac := hmac.New(sha256.New, []byte(s.Reveal()))
	fmt.Fprint(mac, "body")
	fmt.Printf("%x\n", mac.Sum(nil))
	cmd := exec.Command("psql")
	cmd.Env = append(os.Environ(), "PGPASSWORD="+s.Reveal())
	if s.Reveal() == "" {
		return errors.New("no secret")
	}
	log.Println("secret has", len(s.Reveal()), "bytes")
	f, err := os.CreateTemp("", "s")
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintln(f, s.Reveal())
	return db(fmt.Sprintf("postgres://me:%s@db/pay", s.Reveal()))
}

func Progress(done, all prepaid.Amount) string {
	d, _ := done.Cents()
	a, _ := all.Cents()
	return fmt.Sprintf("%.1f %%", float64(d)/float64(a)*100)
}

func Gauge(a prepaid.Amount, set func(float64)) {
	cents, _ := a.Cents()
	set(float64(cents) / 100)
}

func Basis(a prepaid.Amount, bps int64) (prepaid.Amount, error) {
	m, err := a.Mul(bps)
	if err != nil {
		return prepaid.Amount{}, err
	}
	c, _ := m.Cents()
	return prepaid.Cents(c / 10000), nil
}

func Field(o Order, text string) (prepaid.Amount, float64, error) {
	a, err := prepaid.ParseAmount(text)
	pct, _ := strconv.ParseFloat(text, 64)
	o.Pct = pct
	return a, o.Pct, err
}
