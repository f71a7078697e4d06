package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// baselineClient calls the service without package prepaid. It uses net/http, io.ReadAll, encoding/json and an existing
// token. It has no limiter, no retries, no validation, no time limit and no log.
type baselineClient struct {
	http *http.Client
	base string
}

// baselineAccount has the members of prepaid.Account, in plain types. A json.Number keeps money exact.
type baselineAccount struct {
	ID                         string              `json:"account_id"`
	ExternalAccountID          string              `json:"external_account_id"`
	CompanyID                  int64               `json:"company_id"`
	Balance                    json.Number         `json:"balance"`
	CardNumber                 string              `json:"card_number"`
	PlasticExpiry              time.Time           `json:"plastic_expiry"`
	AccountExpiry              time.Time           `json:"account_expiry"`
	ProductType                string              `json:"product_type"`
	Status                     string              `json:"status"`
	PlasticEnabled             bool                `json:"is_plastic_enabled"`
	AccountType                string              `json:"account_type"`
	FirstTransactionOccurredAt time.Time           `json:"first_transaction_occurred_at"`
	LastTransactionOccurredAt  time.Time           `json:"last_transaction_occurred_at"`
	DisplayName                string              `json:"display_name"`
	NameOnCard                 string              `json:"name_on_card"`
	Compliant                  *bool               `json:"is_compliant"`
	ProgramClientID            string              `json:"client_id"`
	ClientAccountKey           string              `json:"client_account_key"`
	BPayBillerCode             string              `json:"bpay_biller_code"`
	BPayReferenceNumber        string              `json:"bpay_reference_number"`
	DirectEntryBSB             string              `json:"direct_entry_bsb"`
	DirectEntryAccountNumber   string              `json:"direct_entry_account_number"`
	Personal                   *baselineCardholder `json:"personal"`
	FreeText                   map[string]string   `json:"free_text"`
	PortalIdentifier           map[string]string   `json:"portal_identifier"`
	MDESConfigID               string              `json:"mdes_config_id"`
	CorrespondingAccountID     string              `json:"corresponding_account_id"`
	CardholderType             int                 `json:"card_holder_type"`
}

type baselineCardholder struct {
	Title               string            `json:"title"`
	FirstName           string            `json:"first_name"`
	MiddleName          string            `json:"middle_name"`
	LastName            string            `json:"last_name"`
	PrimaryAddress      baselineAddress   `json:"primary_address"`
	AlternateAddress    *baselineAddress  `json:"alternate_address"`
	Sex                 string            `json:"sex"`
	MobileNumber        string            `json:"mobile_number"`
	PhoneNumber         string            `json:"phone_number"`
	DateOfBirth         string            `json:"date_of_birth"`
	EmailAddress        string            `json:"email_address"`
	DriverLicenceNumber string            `json:"driver_licence_number"`
	Passport            map[string]string `json:"passport"`
}

type baselineAddress struct {
	Line1    string `json:"address_line1"`
	Line2    string `json:"address_line2"`
	Line3    string `json:"address_line3"`
	City     string `json:"city"`
	State    string `json:"state"`
	Country  string `json:"country"`
	Postcode string `json:"postcode"`
}

// baselineTransaction has the members of prepaid.Transaction.
type baselineTransaction struct {
	ID                     string      `json:"id"`
	ParentID               string      `json:"parent_id"`
	AccountID              string      `json:"account_id"`
	Type                   string      `json:"type"`
	TypeDescription        string      `json:"type_description"`
	Amount                 json.Number `json:"amount"`
	AmountCurrency         string      `json:"amount_currency"`
	FeeAmount              json.Number `json:"fee_amount"`
	FeeAmountCurrency      string      `json:"fee_amount_currency"`
	RunningBalance         json.Number `json:"running_balance_amount"`
	RunningBalanceCurrency string      `json:"running_balance_amount_currency"`
	OccurredAt             time.Time   `json:"occurred_at"`
	CardAcceptorID         string      `json:"card_acceptor_id"`
	TerminalID             string      `json:"terminal_id"`
	AcquirerID             string      `json:"acquirer_id"`
	MerchantCategoryCode   string      `json:"merchant_category_code"`
	Reference              string      `json:"reference"`
}

type baselineTransfer struct {
	RequestID            string      `json:"request_id"`
	Amount               json.Number `json:"amount"`
	SourceReference      string      `json:"source_reference"`
	DestinationReference string      `json:"destination_reference"`
	DestinationAccountID string      `json:"destination_account_id"`
	Type                 int         `json:"transaction_type"`
}

type baselineTransferResult struct {
	TransactionID int64  `json:"transaction_id"`
	CorrelationID string `json:"correlation_id"`
}

// call makes one call. body may be nil.
func (f *baselineClient) call(ctx context.Context, method, path string, body, out any) error {
	var reader io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, f.base+path, reader)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer 0123456789abcdef0123456789abcdef")
	req.Header.Set("Accept", mediaType)
	if body != nil {
		req.Header.Set("Content-Type", mediaType)
	}
	response, err := f.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return json.Unmarshal(content, out)
}
