package right

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/transport"
)

type stored struct {
	prepaid.TransferParams
	Paid bool
}

// The ID is made once.
func (s *Service) Lazy(ctx context.Context, o *stored) (err error) {
	for range 3 {
		if o.RequestID == "" {
			o.RequestID = prepaid.NewRequestID()
		}
		if _, err = s.client.Accounts.Transfer(ctx, "EA1", o.TransferParams); err == nil {
			return nil
		}
	}
	return err
}

func (s *Service) AtFirst(ctx context.Context, o Order) (err error) {
	var id prepaid.RequestID
	for attempt := 0; attempt < 3; attempt++ {
		if attempt == 0 {
			id = prepaid.NewRequestID()
		}
		if _, err = s.client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: id, Amount: o.Amount}); err == nil {
			return nil
		}
	}
	return err
}

// It asks whether the payment is made, and makes a new ID only after a refusal.
func (s *Service) Asks(ctx context.Context, o Order) (err error) {
	for attempt := range 3 {
		if attempt > 0 && s.paid(ctx, o.ID) {
			return err
		}
		if _, err = s.client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount}); err == nil {
			return nil
		}
	}
	return err
}

func (s *Service) paid(ctx context.Context, id string) (yes bool) {
	return s.db.QueryRowContext(ctx, "select paid from orders where id=$1", id).Scan(&yes) == nil && yes
}

func (s *Service) Refused(ctx context.Context, p prepaid.TransferParams) error {
	_, err := s.client.Accounts.Transfer(ctx, "EA1", p)
	refused := false
	if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		refused = true
	}
	if refused || prepaid.ProvesNotApplied(err, time.Time{}) {
		p.RequestID = prepaid.NewRequestID()
		_, err = s.client.Accounts.Transfer(ctx, "EA1", p)
	}
	return err
}

func (s *Service) Invalid(ctx context.Context, p prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) {
	res, err := s.client.Funding.Redeem(ctx, p)
	var invalid *prepaid.ValidationError
	if errors.As(err, &invalid) || !errors.Is(err, prepaid.ErrServer) && transport.NotSent(err) {
		p.CorrelationID = ""
		return s.client.Funding.Redeem(ctx, p)
	}
	return res, err
}

func (s *Service) Search(ctx context.Context, p prepaid.IssueParams) (*prepaid.IssueResult, error) {
	issued, err := s.client.Accounts.Issue(ctx, p)
	if err != nil {
		s.fail(ctx, "issue", err)
		p.Again = true
		return s.client.Accounts.Issue(ctx, p)
	}
	return issued, nil
}

// Each gift is a payment.
func (s *Service) Gifts(ctx context.Context, p prepaid.TransferParams, load prepaid.RedeemFundingParams, n int) (errs error) {
	for range n {
		p.RequestID = prepaid.NewRequestID()
		_, err := s.client.Accounts.Transfer(ctx, "EA1", p)
		res, also := s.client.Funding.Redeem(ctx, load)
		if errs = errors.Join(errs, err, also); also == nil && !res.Approved() {
			return errors.New("declined")
		}
	}
	return errs
}

func (s *Service) Map(ctx context.Context, amounts map[prepaid.AccountID]prepaid.Amount) (errs error) {
	for to, amount := range amounts {
		p := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: amount, DestinationAccountID: to}
		if _, err := s.client.Accounts.Transfer(ctx, "EA1", p); err != nil {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

// The sweep is no order's.
func (s *Service) Sweep(ctx context.Context, p prepaid.TransferParams) {
	p.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), "sweep")
	if _, err := s.client.Accounts.Transfer(ctx, "EA1", p); err != nil {
		log.Fatal(err)
	}
}

// The request may have an ID, and the response has it.
func (s *Service) Response(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		key = uuid.NewString()
	}
	if _, err := s.client.Accounts.Transfer(r.Context(), "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(key)}); err != nil {
		go s.fail(r.Context(), "pay", err)
	}
	id := prepaid.NewRequestID()
	if _, err := s.client.Accounts.Transfer(r.Context(), "EA2", prepaid.TransferParams{RequestID: id}); err != nil {
		s.fail(r.Context(), "pay", err)
	}
	fmt.Fprintln(w, id)
}

// An operator knows that the entry has not moved.
func (s *Service) Window(ctx context.Context, j *journalfile.Journal, p prepaid.TransferParams) error {
	_, err := j.Transfer(ctx, s.client.Accounts, "EA1", p)
	if errors.Is(err, journal.ErrWindow) {
		if err := j.Resolve(p.RequestID, journal.NotMoved()); err != nil {
			return err
		}
		p.RequestID = prepaid.NewRequestID()
		s.ids[p.SourceReference] = p.RequestID
		_, err = j.Transfer(ctx, s.client.Accounts, "EA1", p)
	}
	return err
}

var errKnown = errors.New("known")

// A message that is known is acknowledged.
func (s *Service) OnMessage(ctx context.Context, m *prepaid.Message) error {
	err := s.remember(ctx, m)
	if errors.Is(err, errKnown) {
		return nil
	}
	return err
}

func (s *Service) OnDead(ctx context.Context, m *prepaid.Message, dead chan<- *prepaid.Message) error {
	if err := s.remember(ctx, m); err != nil {
		dead <- m
		return nil
	}
	return nil
}

func (s *Service) OnGroup(ctx context.Context, m *prepaid.Message) (err error) {
	var wg sync.WaitGroup
	wg.Go(func() { err = s.remember(ctx, m) })
	go s.fail(ctx, "group", nil)
	wg.Wait()
	return err
}

func (s *Service) remember(ctx context.Context, m *prepaid.Message) error {
	_, err := s.db.ExecContext(ctx, "insert into messages values ($1)", string(m.ID))
	return err
}
