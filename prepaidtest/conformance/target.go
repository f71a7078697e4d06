package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Target is the service under test. BaseURL, ClientID, ClientSecret and Vendor are required; cases that need
// another setting are skipped without it.
type Target struct {
	// BaseURL is the address with its path prefix, ending in /3.0/.
	BaseURL string
	// ClientID is the OAuth client.
	ClientID string
	// ClientSecret is the secret of ClientID. It is not printed.
	ClientSecret string
	// Vendor is the word in application/vnd.<vendor>+json.
	Vendor string
	// HTTPClient sends the requests. Default: a client of the suite with a time-out of 30 seconds.
	HTTPClient *http.Client
	// CompanyID is a company with a policy that the caller may change.
	CompanyID int64
	// AccountID is the EAID of an active account of the company, plastic-enabled and with money.
	AccountID string
	// SecondAccountID is another such account of the same company.
	SecondAccountID string
	// ProgramClientID is the client_id that AccountID is searched by.
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
	// PayOutBSB is the bank branch, six digits, that a direct entry out goes to.
	PayOutBSB string
	// PayOutNumber is the account number there, digits only.
	PayOutNumber string
	// PayOutName is the name of the account there.
	PayOutName string
	// SimulatorWait is the pause between related simulated actions. Default 60 s: the reference says 30 to 90.
	SimulatorWait time.Duration
	// ReportWait is the pause between two looks at a report under way. Default 2 s; 150 looks are taken.
	ReportWait time.Duration
	// Allow says which effects are permitted. With the zero value the suite reads, and sends requests that must be
	// refused.
	Allow Allow
}

// Allow says which effects the suite may have, beyond reading and requests that must be refused. The zero value
// permits none.
type Allow struct {
	// MoveMoney transfers 0.01 between the two accounts, there and back.
	MoveMoney bool
	// PayOut sends 0.01 to the bank account of the target. It does not come back.
	PayOut bool
	// CreateAccounts creates one account with nothing on it. It stays.
	CreateAccounts bool
	// ChangeAccounts writes the account's registration, status and plastic flag as they are, provisions one wallet
	// token, which stays, and exchanges key data.
	ChangeAccounts bool
	// ChangePolicy adds a category, a merchant and a terminal rule and removes them.
	ChangePolicy bool
	// RunReports runs the report template.
	RunReports bool
	// Simulate books simulated transactions of 1.00 on the account. They stay in its history.
	Simulate bool
	// Funding redeems 0.02, reverses it, redeems again and refunds half of it.
	Funding bool
	// ChangeHooks creates a disabled hook, changes it and deletes it.
	ChangeHooks bool
	// SpendRateLimit sends requests until one is refused, at most 1,100, and waits until they are accepted again.
	SpendRateLimit bool
}

// Format keeps the credentials out of whatever prints a target.
func (t Target) Format(state fmt.State, _ rune) {
	fmt.Fprint(state, "conformance.Target(", t.BaseURL, ")")
}

// allowed finds a permission by its name.
func (a *Allow) allowed(name string) *bool {
	return map[string]*bool{
		"MoveMoney": &a.MoveMoney, "PayOut": &a.PayOut, "CreateAccounts": &a.CreateAccounts, "ChangeAccounts": &a.ChangeAccounts,
		"ChangePolicy": &a.ChangePolicy, "RunReports": &a.RunReports, "Simulate": &a.Simulate, "Funding": &a.Funding,
		"ChangeHooks": &a.ChangeHooks, "SpendRateLimit": &a.SpendRateLimit,
	}[name]
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

// TargetFromEnv reads a target from the variables that the package's documentation lists. It reports false when
// PREPAID_CONFORMANCE_BASE_URL is not set, and an error that names the variables that cannot be used.
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
		if permission := t.Allow.allowed(name); permission != nil {
			*permission = true
		} else {
			refuse("ALLOW", "must list fields of Allow")
		}
	}
	return t, true, errors.Join(faults...)
}
