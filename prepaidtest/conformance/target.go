package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Target is the service under test. BaseURL, ClientID, ClientSecret and Vendor are required. If another
// setting is missing, the cases that need it are skipped.
type Target struct {
	// BaseURL is the address with its path prefix, ending in /3.0/.
	BaseURL string `env:"BASE_URL"`
	// ClientID is the OAuth client.
	ClientID string `env:"CLIENT_ID"`
	// ClientSecret is its secret. It is not printed.
	ClientSecret string `env:"CLIENT_SECRET"`
	// Vendor is the word in application/vnd.<vendor>+json.
	Vendor string `env:"VENDOR"`
	// HTTPClient sends the requests. Default: a client with a time-out of 30 seconds.
	HTTPClient *http.Client
	// CompanyID is a company whose policy the caller may change.
	CompanyID int64 `env:"COMPANY_ID"`
	// AccountID is the EAID of an active, plastic-enabled account of the company, with money.
	AccountID string `env:"ACCOUNT_ID"`
	// SecondAccountID is that of another one.
	SecondAccountID string `env:"SECOND_ACCOUNT"`
	// ProgramClientID is the client_id in a search for AccountID.
	ProgramClientID string `env:"PROGRAM_CLIENT"`
	// AccountKey is the client_account_key in this search.
	AccountKey string `env:"ACCOUNT_KEY"`
	// ReportTemplate is the name of a report template.
	ReportTemplate string `env:"REPORT_TEMPLATE"`
	// WalletProvider is a wallet that takes no certificates.
	WalletProvider string `env:"WALLET_PROVIDER"`
	// HookReceiver is the HTTPS address given to a disabled hook. Nothing is sent to it.
	HookReceiver string `env:"HOOK_RECEIVER"`
	// ApplicationID is the UUID of an application of the key exchange.
	ApplicationID string `env:"APPLICATION_ID"`
	// KeyID is the UUID of its key.
	KeyID string `env:"KEY_ID"`
	// PayOutBSB is the branch of the bank account for a direct entry out: six digits.
	PayOutBSB string `env:"PAYOUT_BSB"`
	// PayOutNumber is the number of this account: digits only.
	PayOutNumber string `env:"PAYOUT_NUMBER"`
	// PayOutName is the name of this account.
	PayOutName string `env:"PAYOUT_NAME"`
	// SimulatorWait is the pause between related simulated actions. Default 60 s: the reference requires 30 to 90 s.
	SimulatorWait time.Duration `env:"SIMULATOR_WAIT"`
	// ReportWait is the pause between polls of a running report (at most 150 polls). Default 2 s.
	ReportWait time.Duration `env:"REPORT_WAIT"`
	// Allow permits effects. With the zero value the suite sends only reads and requests that must be refused.
	Allow Allow `env:"ALLOW"`
}

// Allow permits effects. Reads, and requests that must be refused, are always permitted. The zero value permits no effects.
type Allow struct {
	// MoveMoney transfers 0.01 from one account to the other, and back.
	MoveMoney bool
	// PayOut sends 0.01 to the bank account of the target. The money is not returned.
	PayOut bool
	// CreateAccounts creates one empty account, which remains.
	CreateAccounts bool
	// ChangeAccounts writes the account's registration, status and plastic flag unchanged, provisions one wallet
	// token, which remains, and exchanges key data.
	ChangeAccounts bool
	// ChangePolicy adds and removes a category, a merchant and a terminal rule.
	ChangePolicy bool
	// RunReports runs the report template.
	RunReports bool
	// Simulate books simulated transactions of 1.00 on the account. They remain in its history.
	Simulate bool
	// Funding redeems 0.02, reverses the redemption, redeems again and refunds half.
	Funding bool
	// ChangeHooks creates a disabled hook, changes it and deletes it.
	ChangeHooks bool
	// SpendRateLimit sends up to 1,100 requests, until one is refused, and waits until requests are accepted again.
	SpendRateLimit bool
}

// Format prints a target without credentials.
func (t Target) Format(state fmt.State, _ rune) {
	fmt.Fprint(state, "conformance.Target(", t.BaseURL, ")")
}

func (t *Target) validate() error {
	switch {
	case !strings.HasPrefix(t.BaseURL, "http") || !strings.HasSuffix(t.BaseURL, "/3.0/"):
		return errors.New("conformance: BaseURL: must be an HTTP address that ends in /3.0/")
	case t.ClientID == "" || t.ClientSecret == "" || t.Vendor == "":
		return errors.New("conformance: ClientID, ClientSecret and Vendor: are required")
	}
	return nil
}

// TargetFromEnv reads a target from environment variables: see the package's documentation. It returns false if
// PREPAID_CONFORMANCE_BASE_URL is not set. The error names the invalid variables.
func TargetFromEnv() (Target, bool, error) {
	const prefix = "PREPAID_CONFORMANCE_"
	var t Target
	if os.Getenv(prefix+"BASE_URL") == "" {
		return t, false, nil
	}
	var faults []error
	fields := reflect.ValueOf(&t).Elem()
	for i := range fields.NumField() {
		name := prefix + fields.Type().Field(i).Tag.Get("env")
		if rule := set(fields.Field(i).Addr().Interface(), os.Getenv(name)); rule != "" {
			faults = append(faults, fmt.Errorf("conformance: %s: %s", name, rule))
		}
	}
	return t, true, errors.Join(append(faults, t.validate())...)
}

// set reads the text of a variable, and returns the rule that it breaks, or "".
func set(field any, text string) (rule string) {
	if text == "" {
		return ""
	}
	var err error
	switch into := field.(type) {
	case *string:
		*into = text
	case *int64:
		if *into, err = strconv.ParseInt(text, 10, 64); err != nil {
			return "must be a number"
		}
	case *time.Duration:
		if *into, err = time.ParseDuration(text); err != nil || *into <= 0 {
			return "must be a positive duration such as 60s"
		}
	case *Allow:
		for name := range strings.SplitSeq(text, ",") {
			permission := reflect.ValueOf(into).Elem().FieldByName(strings.TrimSpace(name))
			if !permission.IsValid() {
				return "must list fields of Allow"
			}
			permission.SetBool(true)
		}
	}
	return ""
}
