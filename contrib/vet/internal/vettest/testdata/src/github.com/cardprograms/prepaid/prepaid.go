// Package prepaid is the public API of the SDK as far as the rules need it, without bodies.
package prepaid

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"time"
)

type (
	AccountID     string
	RequestID     string
	TransactionID string
	CompanyID     int64
	HookID        string
	ErrorCode     string
	Outcome       uint8
)

const (
	OutcomeUnknown Outcome = iota
	OutcomeApplied
	OutcomeRejected
	OutcomeNotProcessed
)

func (Outcome) String() string { return "" }

func OutcomeOf(error) Outcome                   { return OutcomeUnknown }
func ProvesNotApplied(error, time.Time) bool    { return false }
func NewRequestID() RequestID                   { return "" }
func DeriveRequestID(Date, ...string) RequestID { return "" }

type CallError struct {
	AccountID                      AccountID
	Attempts                       int
	CorrelationID, Operation       string
	Err                            error
	FirstSent, LastSent, NotBefore time.Time
	Outcome                        Outcome
	RequestID                      RequestID
}

func (*CallError) Error() string   { return "" }
func (e *CallError) Unwrap() error { return e.Err }

var (
	ErrNotFound        error
	ErrTransferFailed  error
	ErrRequestIDReused error
	ErrServer          error

	ErrRequestIDExpired error
)

type APIError struct {
	StatusCode  int
	Description string
	Body        []byte
}

func (*APIError) Error() string { return "" }

type ValidationError struct{ Op string }

func (*ValidationError) Error() string { return "" }

type Message struct {
	ID        string
	Timestamp time.Time
	Raw       []byte `redact:"content"`
}

func (*Message) Decode(any) error { return nil }

type Cardholder struct {
	FirstName string `redact:"personal"`
}

type Date struct{ day int }

func DateOf(time.Time) Date { return Date{} }
func (Date) String() string { return "" }

type Amount struct{ units int64 }

func Cents(int64) Amount                    { return Amount{} }
func MustAmount(string) Amount              { return Amount{} }
func ParseAmount(string) (Amount, error)    { return Amount{}, nil }
func (Amount) Abs() Amount                  { return Amount{} }
func (Amount) Add(Amount) (Amount, error)   { return Amount{}, nil }
func (Amount) Sub(Amount) (Amount, error)   { return Amount{}, nil }
func (Amount) Mul(int64) (Amount, error)    { return Amount{}, nil }
func (Amount) Neg() Amount                  { return Amount{} }
func (Amount) Cents() (int64, bool)         { return 0, false }
func (Amount) Compare(Amount) int           { return 0 }
func (Amount) IsZero() bool                 { return false }
func (Amount) Sign() int                    { return 0 }
func (Amount) String() string               { return "" }
func (Amount) GoString() string             { return "" }
func (Amount) MarshalText() ([]byte, error) { return nil, nil }
func (Amount) MarshalJSON() ([]byte, error) { return nil, nil }
func (*Amount) UnmarshalText([]byte) error  { return nil }
func (*Amount) UnmarshalJSON([]byte) error  { return nil }
func (*Amount) Scan(any) error              { return nil }

type Secret struct{ value string }

func NewSecret(value string) Secret             { return Secret{value} }
func (s Secret) Reveal() string                 { return s.value }
func (Secret) Equal(Secret) bool                { return false }
func (Secret) IsZero() bool                     { return false }
func (Secret) Format(f fmt.State, _ rune)       {}
func (Secret) LogValue() slog.Value             { return slog.Value{} }
func (Secret) MarshalText() ([]byte, error)     { return nil, nil }
func (*Secret) UnmarshalText(text []byte) error { return nil }

type RetryPolicy struct{ MaxAttempts int }

type Config struct {
	AttemptTimeout  time.Duration
	BaseURL, Vendor string
	ClientID        string
	ClientSecret    Secret
	Logger          *slog.Logger
	Retry           RetryPolicy
	Transport       http.RoundTripper
}

func ConfigFromEnv() (Config, error) { return Config{}, nil }

type Overrides struct {
	AttemptTimeout time.Duration
	Retry          RetryPolicy
}

type Client struct {
	Accounts   *AccountsService
	Funding    *FundingService
	Hooks      *HooksService
	PIN        *PINService
	Policy     *PolicyService
	Reporting  *ReportingService
	Simulation *SimulationService
}

func NewClient(Config) (*Client, error)                     { return nil, nil }
func (*Client) With(Overrides) (*Client, error)             { return nil, nil }
func (*Client) Close() error                                { return nil }
func (*Client) Check(context.Context) (*CheckResult, error) { return nil, nil }
func (*Client) Do(context.Context, RawRequest, any) error   { return nil }

type CheckResult struct{ TokenLifetime time.Duration }

type EphemeralKey struct{ secret Secret }

func (EphemeralKey) Bytes() []byte { return nil }

type RawRequest struct{ Method, Path string }

type (
	AccountsService   struct{ _ int }
	FundingService    struct{ _ int }
	HooksService      struct{ _ int }
	PINService        struct{ _ int }
	PolicyService     struct{ _ int }
	ReportingService  struct{ _ int }
	SimulationService struct{ _ int }
)

type PaymentParams interface {
	Validate() error
	isPayment()
}

type TransferParams struct {
	RequestID                             RequestID
	Amount                                Amount
	SourceReference, DestinationReference string
	DestinationAccountID                  AccountID
	InitiatorUsername                     string
	LastSent                              time.Time
}

func (TransferParams) Validate() error { return nil }
func (TransferParams) isPayment()      {}

type BankAccount struct{ AccountName, AccountNumber, BSB string }

type DirectEntryOutParams struct {
	RequestID                             RequestID
	Amount                                Amount
	BSB                                   string
	Destination                           BankAccount
	SourceReference, DestinationReference string
	LastSent                              time.Time
}

func (DirectEntryOutParams) Validate() error { return nil }
func (DirectEntryOutParams) isPayment()      {}

type TransferResult struct {
	TransactionID TransactionID
	CorrelationID string
	RequestID     RequestID
}

type (
	Account struct {
		ID         AccountID
		Balance    Amount
		Cardholder *Cardholder
	}
	AccountSummary      struct{ Balance Amount }
	Include             string
	AccountStatus       string
	SetStatusParams     struct{ Status AccountStatus }
	UpdateAccountParams struct{ DisplayName string }
	CreateAccountParams struct {
		ClientAccountKey  string
		CompanyID         CompanyID
		InitialLoadAmount Amount
	}
	IssueParams struct {
		Account         CreateAccountParams
		ProgramClientID string
		Again           bool
	}
	Issued struct {
		Account *Account
		Created bool
	}
	ListTransactionsParams struct{ From, To, Before time.Time }
	SearchAccountsParams   struct{ Paging Paging }
	Paging                 struct{ PageSize int }
	Page[T any]            struct{ Items []T }
	Transaction            struct {
		ID     TransactionID
		Amount Amount
	}
	FindMovementParams struct {
		AccountID AccountID
		Amount    Amount
	}
	Finding struct{ Transactions []Transaction }
)

func (p FindMovementParams) Around(error) FindMovementParams { return p }

func (*AccountsService) Transfer(context.Context, AccountID, TransferParams) (*TransferResult, error) {
	return nil, nil
}

func (*AccountsService) DirectEntryOut(context.Context, AccountID, DirectEntryOutParams) (*TransferResult, error) {
	return nil, nil
}
func (*AccountsService) NotBefore(time.Time) time.Time { return time.Time{} }
func (*AccountsService) Create(context.Context, CreateAccountParams) (*AccountSummary, error) {
	return nil, nil
}
func (*AccountsService) Issue(context.Context, IssueParams) (*Issued, error) { return nil, nil }
func (*AccountsService) Get(context.Context, AccountID, ...Include) (*Account, error) {
	return nil, nil
}
func (*AccountsService) Summary(context.Context, AccountID) (*AccountSummary, error)  { return nil, nil }
func (*AccountsService) SetStatus(context.Context, AccountID, SetStatusParams) error  { return nil }
func (*AccountsService) Update(context.Context, AccountID, UpdateAccountParams) error { return nil }
func (*AccountsService) Transactions(context.Context, AccountID, ListTransactionsParams) iter.Seq2[*Transaction, error] {
	return nil
}

func (*AccountsService) TransactionsPage(context.Context, AccountID, ListTransactionsParams) (*Page[Transaction], error) {
	return nil, nil
}
func (*AccountsService) Search(context.Context, SearchAccountsParams) iter.Seq2[*Account, error] {
	return nil
}
func (*AccountsService) FindMovement(context.Context, FindMovementParams) (*Finding, error) {
	return nil, nil
}

func Collect[T any](iter.Seq2[T, error], int) ([]T, error) { return nil, nil }

type (
	FundingOutcome      string
	RedeemFundingParams struct {
		Amount        Amount
		AccountID     AccountID
		CorrelationID string
	}
	ReverseFundingParams struct {
		AccountID           AccountID
		CorrelationID       string
		ParentTransactionID TransactionID
	}
	RefundFundingParams struct {
		Amount        Amount
		AccountID     AccountID
		CorrelationID string
	}
	FundingResult struct {
		Outcome       FundingOutcome
		TransactionID TransactionID
	}
)

const (
	FundingOutcomeApproved FundingOutcome = "approved"
	FundingOutcomeDeclined FundingOutcome = "declined"
)

func (*FundingResult) Approved() bool { return false }
func (*FundingService) Redeem(context.Context, RedeemFundingParams) (*FundingResult, error) {
	return nil, nil
}
func (*FundingService) Reverse(context.Context, ReverseFundingParams) (*FundingResult, error) {
	return nil, nil
}
func (*FundingService) Refund(context.Context, RefundFundingParams) (*FundingResult, error) {
	return nil, nil
}

type (
	Hook             struct{ ID HookID }
	CreateHookParams struct {
		URI           string
		HMACKeySecret Secret
	}
)

func (*HooksService) List(context.Context, Paging) iter.Seq2[*Hook, error] { return nil }
func (*HooksService) Create(context.Context, CreateHookParams) (HookID, error) {
	return "", nil
}

type (
	ReportReader    struct{ _ int }
	RunReportParams struct{ WaitForPrevious bool }
)

func (*ReportingService) Run(context.Context, string, RunReportParams) (*ReportReader, error) {
	return nil, nil
}
func (*ReportReader) Rows() iter.Seq2[[]string, error] { return nil }
func (*ReportReader) Close() error                     { return nil }

type (
	SimulateParams    struct{ Amount Amount }
	SimulationResult  struct{ Success bool }
	PINSecret         struct{ PIN, OTP Secret }
	InitiatePINParams struct{ AccountID AccountID }
	Response          struct{ StatusCode int }
)

func (*SimulationService) Transact(context.Context, SimulateParams) (*SimulationResult, error) {
	return nil, nil
}
func (*PINService) Initiate(context.Context, InitiatePINParams) (*Response, error) {
	return nil, nil
}
