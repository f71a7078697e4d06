package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// program is the card program, its client, and the journal of its payments.
type program struct {
	client   *prepaid.Client
	company  prepaid.CompanyID
	clientID string            // client_id of the program's accounts
	float    prepaid.AccountID // pays for the loads
	journal  *journalfile.Journal
	again    bool // an earlier run may have issued cards
	close    func() error
}

// open uses the environment's service, or an emulator.
func open() (*program, error) {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate()
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	if !config.TestEnvironment {
		return nil, errors.New("PREPAID_ENVIRONMENT must be test: this program issues cards and moves money")
	}
	company, err := strconv.ParseInt(os.Getenv("COMPANY_ID"), 10, 64)
	p := &program{
		company: prepaid.CompanyID(company), clientID: os.Getenv("PROGRAM_CLIENT_ID"),
		float: prepaid.AccountID(os.Getenv("FLOAT_ACCOUNT")),
	}
	if err != nil || p.clientID == "" || p.float == "" {
		return nil, errors.New("COMPANY_ID (a number), PROGRAM_CLIENT_ID and FLOAT_ACCOUNT are required")
	}
	if p.client, err = prepaid.NewClient(config); err != nil {
		return nil, err
	}
	return p.withJournal("quickstart.journal", p.client.Close)
}

// emulate starts an emulator, which loses its data at the end of the process, as does the journal.
func emulate() (*program, error) {
	directory, err := os.MkdirTemp("", "quickstart")
	if err != nil {
		return nil, err
	}
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(directory))
	}
	p := &program{
		client: srv.Client(), company: prepaidtest.DefaultCompany, clientID: prepaidtest.DefaultProgramClientID,
		float: srv.AddAccount(prepaidtest.SeedAccount{Balance: "10000.00"}),
	}
	return p.withJournal(filepath.Join(directory, "payments"), func() error { return errors.Join(srv.Close(), os.RemoveAll(directory)) })
}

// withJournal opens the journal. A journal from an earlier run means that cards may exist.
func (p *program) withJournal(path string, closeRest func() error) (*program, error) {
	_, err := os.Stat(path)
	p.again = !errors.Is(err, fs.ErrNotExist)
	if p.journal, err = journalfile.Open(path, journalfile.Options{}); err != nil {
		return nil, errors.Join(err, closeRest())
	}
	p.close = func() error { return errors.Join(p.journal.Close(), closeRest()) }
	return p, nil
}
