// Package plain has the code that the programs ../raw and ../client share.
package plain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Main runs the task with the arguments of the program, then prints the memory that Linux reports for the process. After an error,
// the program exits with 1.
func Main(run func(task, address, rows string) error) {
	err := run(os.Args[1], os.Args[2], os.Args[3])
	if err == nil {
		var status []byte
		status, err = os.ReadFile("/proc/self/status")
		_, _ = os.Stdout.Write(status)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// CopyToFile copies a report to a temporary file.
func CopyToFile(report io.Reader) error {
	file, err := os.CreateTemp("", "report-*.csv")
	if err != nil {
		return err
	}
	_, err = io.Copy(file, report)
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// Start requests a token and an account with the standard library, and prints that account's ID. If twice is set, each request has
// its own connection.
func Start(address string, twice bool) error {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, address+"token",
		strings.NewReader("grant_type=client_credentials"))
	if err != nil {
		return err
	}
	req.SetBasicAuth("bench", "secret")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Close = twice
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := exchange(req, &token); err != nil {
		return err
	}
	req, err = http.NewRequestWithContext(context.Background(), http.MethodGet, address+"accounts/EAID7", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token.AccessToken)
	var account struct {
		AccountID    string      `json:"account_id"`
		Balance      json.Number `json:"balance"`
		CreatedAt    time.Time   `json:"created_at"`
		Status       string      `json:"status"`
		CompanyID    int         `json:"company_id"`
		CardNumber   string      `json:"card_number"`
		AccountType  string      `json:"account_type"`
		PlasticValid bool        `json:"is_plastic_enabled"`
	}
	if err := exchange(req, &account); err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(account.AccountID + "\n")
	return err
}

func exchange(req *http.Request, into any) error {
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return json.Unmarshal(body, into)
}
