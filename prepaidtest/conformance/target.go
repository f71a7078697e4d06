package conformance

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Target is the service under test. BaseURL, ClientID, ClientSecret and Vendor are required. If another
// setting is missing, the cases that need it are skipped.
type Target struct {
	// BaseURL is the address with its path prefix, ending in /3.0/.
	BaseURL string
	// ClientID is the OAuth client.
	ClientID string
	// ClientSecret is its secret. It is not printed.
	ClientSecret string
	// Vendor is the word in application/vnd.<vendor>+json.
	Vendor string
	// HTTPClient sends the requests. Default: a client with a time-out of 30 seconds.
	HTTPClient *http.Client
	// CompanyID is a company whose policy the caller may change.
	CompanyID int64
	// AccountID is the EAID of an active, plastic-enabled account of the company, with money.
	AccountID string
	// SecondAccountID is that of another one.
	SecondAccountID string
	// ProgramClientID is the client_id in a search for AccountID.
	ProgramClientID string
	// AccountKey is the client_account_key in this search.
	AccountKey string
	// ReportTemplate is the name of a report template.
	ReportTemplate string
	// WalletProvider is a wallet that takes no certificates.
	WalletProvider string
	// HookReceiver is the HTTPS address given to a disabled hook. Nothing is sent to it.
	HookReceiver string
	// ApplicationID is the UUID of an application of the key exchange.
	ApplicationID string
	// KeyID is the UUID of its key.
	KeyID string
	// PayOutBSB is the branch of the bank account for a direct entry out: six digits.
	PayOutBSB string
	// PayOutNumber is the number of this account: digits only.
	PayOutNumber string
	// PayOutName is the name of this account.
	PayOutName string
	// SimulatorWait is the pause between related simulated actions. Default 60 s: the reference requires 30 to 90 s.
	SimulatorWait time.Duration
	// ReportWait is the pause between polls of a running report (at most 150 polls). Default 2 s.
	ReportWait time.Duration
	// Allow permits effects. With the zero value the suite sends only reads and requests that must be refused.
	Allow Allow
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
	fields := map[string]any{
		"BASE_URL": &t.BaseURL, "CLIENT_ID": &t.ClientID, "CLIENT_SECRET": &t.ClientSecret, "VENDOR": &t.Vendor,
		"COMPANY_ID": &t.CompanyID, "ACCOUNT_ID": &t.AccountID, "SECOND_ACCOUNT": &t.SecondAccountID,
		"PROGRAM_CLIENT": &t.ProgramClientID, "ACCOUNT_KEY": &t.AccountKey, "REPORT_TEMPLATE": &t.ReportTemplate,
		"WALLET_PROVIDER": &t.WalletProvider, "HOOK_RECEIVER": &t.HookReceiver, "APPLICATION_ID": &t.ApplicationID,
		"KEY_ID": &t.KeyID, "PAYOUT_BSB": &t.PayOutBSB, "PAYOUT_NUMBER": &t.PayOutNumber, "PAYOUT_NAME": &t.PayOutName,
		"SIMULATOR_WAIT": &t.SimulatorWait, "REPORT_WAIT": &t.ReportWait, "ALLOW": &t.Allow,
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if rule := set(fields[name], os.Getenv(prefix+name)); rule != "" {
			faults = append(faults, fmt.Errorf("conformance: %s: %s", prefix+name, rule))
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
