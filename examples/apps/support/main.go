// Support is for a ticket about a payment. It shows the payment, searches for its movement, sends it again, and records a person's decision:
//
//	support [-journal file] show|search|resend request-id
//	support [-journal file] decide request-id moved transaction-id|not-moved|retry|withdraw
//
// Without -journal it uses the database of payouts. Without arguments it resolves a lost response on an emulator inside this process.
package main

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	path := flag.String("journal", "", "`file` of package journalfile")
	flag.Parse()
	if err := run(context.Background(), *path); err != nil { // it may be killed, like any program that pays with a store
		log.Fatal(err)
	}
}

func run(ctx context.Context, path string) error {
	if flag.NArg() == 0 {
		return demonstrate(ctx)
	}
	config, err := prepaid.ConfigFromEnv() // that of the program that pays: a repeat must wait as long
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	s, err := open(ctx, client, path, os.Getenv("PAYOUTS_KEY_FILE"))
	if err != nil {
		return err
	}
	return s.do(ctx, flag.Arg(0), prepaid.RequestID(flag.Arg(1)), flag.Arg(2), prepaid.TransactionID(flag.Arg(3)))
}

// support has the payments of a file or, if it is nil, of a database.
type support struct {
	client  *prepaid.Client
	options journalfile.Options
	file    *journalfile.Journal
	pool    *pgxpool.Pool
	store   *prepaidpg.Store
}

// open opens the file at path or, without one, the database, with keys derived as in payouts.
func open(ctx context.Context, client *prepaid.Client, path, keyFile string) (*support, error) {
	text, err := os.ReadFile(keyFile)
	key, invalid := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || invalid != nil || len(key) != 32 {
		return nil, errors.New("PAYOUTS_KEY_FILE must name a file with 64 hex digits")
	}
	seal, _ := hkdf.Key(sha256.New, key, nil, "payouts seal", 32) // never fails
	digest, _ := hkdf.Key(sha256.New, key, nil, "payouts digest", 32)
	s := &support{client: client, options: journalfile.Options{DigestKey: prepaid.NewSecret(hex.EncodeToString(digest))}}
	s.options.Seal, _ = journal.NewAEAD(seal)
	if path != "" {
		if _, err = os.Stat(path); err == nil { // Open would create it
			s.file, err = journalfile.Open(path, s.options)
		}
		return s, err
	}
	if s.pool, err = pgxpool.New(ctx, os.Getenv("PAYOUTS_DATABASE")); err != nil {
		return nil, errors.New("PAYOUTS_DATABASE cannot be read") // err may contain the password
	}
	s.store, err = prepaidpg.Open(ctx, s.pool, prepaidpg.Options{Seal: s.options.Seal, DigestKey: s.options.DigestKey})
	return s, err
}

func (s *support) do(ctx context.Context, command string, id prepaid.RequestID, decision string, transaction prepaid.TransactionID) error {
	e, err := s.get(ctx, id)
	switch {
	case err != nil:
		return fmt.Errorf("%q: %w: it may be in another journal or database", id, err)
	case command == "show":
		return show(e)
	case command == "resend" && e.Due() && e.NeedsPerson(time.Now()) == nil:
		return s.resend(ctx, e)
	}
	known, unknown, err := s.others(ctx, e)
	switch {
	case err != nil:
		return err
	case command == "search":
		return s.search(ctx, e, known, unknown)
	case command == "decide" && !slices.Contains(known, transaction):
		return s.decide(ctx, id, decision, transaction)
	}
	return fmt.Errorf("nothing was done: no such command, the transaction of another payment, or nothing to send again: it is %s", e.State)
}

func (s *support) get(ctx context.Context, id prepaid.RequestID) (journal.Entry, error) {
	if s.file == nil {
		return s.store.Get(ctx, id)
	}
	if e, known := s.file.Get(id); known {
		return e, s.file.Err()
	}
	return journal.Entry{}, journal.ErrNoPayment
}

// others returns the transactions of the account's other payments, and how many of those of the same amount are unknown.
func (s *support) others(ctx context.Context, e journal.Entry) (known []prepaid.TransactionID, unknown int, err error) {
	if s.file == nil {
		err = s.pool.QueryRow(ctx, `select coalesce(array_agg(transaction_id) filter (where state = 'done'), '{}'),
			count(*) filter (where amount = $2 and state in ('unknown', 'intended')) from prepaid.all_payments
			where account_id = $1 and request_id <> $3`, e.AccountID, e.Amount, e.RequestID).Scan(&known, &unknown)
		return known, unknown, err
	}
	for other := range s.file.All() {
		same := other.RequestID != e.RequestID && other.AccountID == e.AccountID
		if same && other.State == journal.StateDone {
			known = append(known, other.TransactionID)
		} else if same && other.Amount == e.Amount && other.State.Open() {
			unknown++
		}
	}
	return known, unknown, s.file.Err()
}

// show prints an entry without params and digests: they have, or can reveal, personal data.
func show(e journal.Entry) error {
	e.Sealed, e.Params, e.Destination = nil, "", ""
	text, err := json.MarshalIndent(e, "", "  ")
	fmt.Printf("%s\nmoved: %t, may have moved: %t, a person must decide: %t\n", text,
		e.State == journal.StateDone, e.State.Open(), e.NeedsPerson(time.Now()) != nil)
	return err
}

// search prints the movements that can be the payment.
func (s *support) search(ctx context.Context, e journal.Entry, known []prepaid.TransactionID, unknown int) error {
	params := e.Movement(time.Now())
	params.Exclude = known
	finding, err := s.client.Accounts.FindMovement(ctx, params)
	if finding == nil {
		return err
	}
	fmt.Printf("searched from %s to %s\n", finding.From.Format(time.RFC3339), finding.To.Format(time.RFC3339))
	for _, t := range finding.Transactions {
		fmt.Printf("candidate %s: type %s, %s, at %s\n", t.ID, t.Type, t.Amount, t.OccurredAt.Format(time.RFC3339))
	}
	fmt.Printf("%d other payments of this account and amount are unknown: a candidate can be theirs\n", unknown)
	if errors.Is(err, prepaid.ErrNotSeen) {
		fmt.Println("this proves nothing: the history may be late; never pay again because of it")
	}
	return err
}

// resend sends one payment; Resume would send all. It leaves those of a database to the workers, which also write to the books.
func (s *support) resend(ctx context.Context, e journal.Entry) error {
	if s.file == nil {
		return errors.New("the workers of payouts send it when it is due: start them")
	}
	params, err := e.Open(s.options.Seal, s.options.DigestKey, e.Sealed)
	if err != nil {
		return fmt.Errorf("nothing was sent, run the program that pays again: %w", err)
	}
	for _, err = range s.file.PayAll(ctx, s.client.Accounts, 1, slices.Values([]journal.Payment{{Account: e.AccountID, Params: params}})) {
	}
	return err
}

// books are the tables of payouts. The store does not call Settled for a decision.
const books = `with o as (update orders set state = p.state from prepaid.payments p
	where p.request_id = $1 and orders.request_id = $1 returning orders.*, p.transaction_id)
insert into postings (request_id, account_id, amount, transaction_id)
	select request_id, account_id, amount, transaction_id from o where state = 'done' on conflict do nothing`

func (s *support) decide(ctx context.Context, id prepaid.RequestID, name string, transaction prepaid.TransactionID) error {
	decision := map[string]func(journal.Entry, time.Time) (journal.Entry, error){
		"moved": func(e journal.Entry, now time.Time) (journal.Entry, error) {
			return e.Resolve(now, journal.Moved(transaction))
		},
		"not-moved": func(e journal.Entry, now time.Time) (journal.Entry, error) { return e.Resolve(now, journal.NotMoved()) },
		"retry":     journal.Entry.Retry, "withdraw": journal.Entry.Withdraw,
	}[name]
	switch {
	case decision == nil:
		return errors.New("nothing was recorded: decide moved, not-moved, retry or withdraw")
	case s.file != nil:
		return s.file.Decide(ctx, id, decision)
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		err := s.store.DecideTx(ctx, tx, id, decision)
		if err == nil {
			_, err = tx.Exec(ctx, books, id)
		}
		return err
	})
}

// demonstrate loses the response to a payment, and sends the payment again.
func demonstrate(ctx context.Context) (err error) {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return err
	}
	directory, err := os.MkdirTemp("", "support")
	defer func() { err = errors.Join(err, srv.Close(), os.RemoveAll(directory)) }()
	path, key, config := filepath.Join(directory, "payments"), filepath.Join(directory, "key"), srv.Config()
	config.Retry.MaxAttempts = 1
	payer, failed := prepaid.NewClient(config)
	err = errors.Join(err, failed, os.WriteFile(path, nil, 0o600), os.WriteFile(key, []byte(strings.Repeat("5a", 32)), 0o600))
	if err != nil {
		return err
	}
	s, err := open(ctx, payer, path, key)
	if err != nil {
		return err
	}
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Truncate()) // it is executed, but the response is cut
	id := prepaid.NewRequestID()
	_, err = s.file.Transfer(ctx, payer.Accounts, srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), prepaid.TransferParams{
		RequestID: id, Amount: prepaid.MustAmount("25.50"), DestinationAccountID: srv.AddAccount(prepaidtest.SeedAccount{}),
		Type: prepaid.TransferTypeLoad, SourceReference: "INVOICE 7", DestinationReference: "INVOICE 7",
	})
	fmt.Println(err)
	err = payer.Close()
	s.client = srv.Client() // it knows nothing of the payment, as in another process
	for _, command := range []string{"show", "search", "resend", "show"} {
		fmt.Println("\nsupport", command, id)
		err = errors.Join(err, s.do(ctx, command, id, "", ""))
	}
	return errors.Join(err, s.file.Close())
}
