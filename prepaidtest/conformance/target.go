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
	BaseURL string
	// ClientID is the OAuth client.
	ClientID string
	// ClientSecret is the secret of ClientID. It is not printed.
	ClientSecret string
	// Vendor is the word in application/vnd.<vendor>+json.
	Vendor string
	// HTTPClient sends the requests. Default: a client with a time-out of 30 seconds.
	HTTPClient *http.Client
	// CompanyID is a company whose policy the caller may change.
	CompanyID int64
	// AccountID is the EAID of an active, plastic-enabled account of the company, with money.
	AccountID string
	// SecondAccountID is another such account of the same company.
	SecondAccountID string
	// ProgramClientID is the client_id in searches for AccountID.
	ProgramClientID string
	// AccountKey is the client_account_key of AccountID.
	AccountKey string
	// ReportTemplate is the name of a report template.
	ReportTemplate string
	// WalletProvider is a wallet that takes no certificates.
	WalletProvider string
	// HookReceiver is the HTTPS address given to a disabled hook. Nothing is sent to it.
	HookReceiver string
	// ApplicationID is the UUID of an application of the key exchange.
	ApplicationID string
	// KeyID is the UUID of a key of ApplicationID.
	KeyID string
	// PayOutBSB is the bank branch (six digits) for a direct entry out.
	PayOutBSB string
	// PayOutNumber is the number of an account at that branch, digits only.
	PayOutNumber string
	// PayOutName is the name of that account.
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
	var faults []error
	for name, value := range map[string]string{"ClientID": t.ClientID, "ClientSecret": t.ClientSecret, "Vendor": t.Vendor} {
		if value == "" {
			faults = append(faults, fmt.Errorf("conformance: %s: is required", name))
		}
	}
	if !strings.HasPrefix(t.BaseURL, "http") || !strings.HasSuffix(t.BaseURL, "/3.0/") {
		faults = append(faults, errors.New("conformance: BaseURL: must be an HTTP address that ends in /3.0/"))
	}
	return errors.Join(faults...)
}

// TargetFromEnv reads a target from the variables that the package's documentation lists. It returns false if
// PREPAID_CONFORMANCE_BASE_URL is not set. The error names the invalid variables.
func TargetFromEnv() (Target, bool, error) {
	get := func(name string) string { return os.Getenv("PREPAID_CONFORMANCE_" + name) }
	if get("BASE_URL") == "" {
		return Target{}, false, nil
	}
	t := Target{
		BaseURL: get("BASE_URL"), ClientID: get("CLIENT_ID"), ClientSecret: get("CLIENT_SECRET"), Vendor: get("VENDOR"),
		AccountID: get("ACCOUNT_ID"), SecondAccountID: get("SECOND_ACCOUNT"), ProgramClientID: get("PROGRAM_CLIENT"),
		AccountKey: get("ACCOUNT_KEY"), ReportTemplate: get("REPORT_TEMPLATE"), WalletProvider: get("WALLET_PROVIDER"),
		HookReceiver: get("HOOK_RECEIVER"), ApplicationID: get("APPLICATION_ID"), KeyID: get("KEY_ID"),
		PayOutBSB: get("PAYOUT_BSB"), PayOutNumber: get("PAYOUT_NUMBER"), PayOutName: get("PAYOUT_NAME"),
	}
	faults := []error{t.validate()}
	refuse := func(name, rule string) {
		faults = append(faults, fmt.Errorf("conformance: PREPAID_CONFORMANCE_%s: %s", name, rule))
	}
	if text := get("COMPANY_ID"); text != "" {
		var err error
		if t.CompanyID, err = strconv.ParseInt(text, 10, 64); err != nil {
			refuse("COMPANY_ID", "must be a number")
		}
	}
	for name, into := range map[string]*time.Duration{"SIMULATOR_WAIT": &t.SimulatorWait, "REPORT_WAIT": &t.ReportWait} {
		if text := get(name); text != "" {
			var err error
			if *into, err = time.ParseDuration(text); err != nil || *into <= 0 {
				refuse(name, "must be a positive duration such as 60s")
			}
		}
	}
	for name := range strings.SplitSeq(get("ALLOW"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if permission := reflect.ValueOf(&t.Allow).Elem().FieldByName(name); permission.IsValid() {
			permission.SetBool(true)
		} else {
			refuse("ALLOW", "must list fields of Allow")
		}
	}
	return t, true, errors.Join(faults...)
}
