package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// quickstart is one run: its environment, and the accounts that it has created so far.
type quickstart struct {
	day   prepaid.Date // of the loads
	again bool
	pause time.Duration

	out      io.Writer
	client   *prepaid.Client
	emulator *prepaidtest.Server // nil on the real test environment

	company  prepaid.CompanyID
	program  string // client_id of the program's accounts
	float    prepaid.AccountID
	template string
	look     time.Duration // how long to search for a created card; the client's default if zero

	cards []card
}

// card is an issued card, with its status when it was issued or found.
type card struct {
	key    string
	load   prepaid.Amount
	id     prepaid.AccountID
	status prepaid.AccountStatus
}

// setUp sets the resources that tearDown releases. Call tearDown even if setUp returns an error.
func (q *quickstart) setUp() (err error) {
	if os.Getenv("PREPAID_BASE_URL") != "" {
		return q.setUpReal()
	}
	if q.emulator, err = prepaidtest.Start(prepaidtest.Options{}); err != nil {
		return err
	}
	q.company, q.program = prepaidtest.DefaultCompany, prepaidtest.DefaultProgramClientID
	q.float = q.emulator.AddAccount(prepaidtest.SeedAccount{Balance: "10000.00", Key: "float"})
	q.template, q.pause, q.look = prepaidtest.DailySettlement, 150*time.Millisecond, time.Second // the emulator has no delays
	q.client = q.emulator.Client()
	return nil
}

func (q *quickstart) setUpReal() error {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	if !config.TestEnvironment {
		return errors.New("PREPAID_ENVIRONMENT must be test: this program moves money and changes the policy")
	}
	company, err := strconv.ParseInt(os.Getenv("PREPAID_COMPANY_ID"), 10, 64)
	q.company, q.program = prepaid.CompanyID(company), os.Getenv("PREPAID_PROGRAM_CLIENT_ID")
	q.float, q.template = prepaid.AccountID(os.Getenv("PREPAID_FLOAT_ACCOUNT")), os.Getenv("PREPAID_REPORT_TEMPLATE")
	if err != nil || q.program == "" || q.float == "" {
		return errors.New("PREPAID_COMPANY_ID (a number), PREPAID_PROGRAM_CLIENT_ID and PREPAID_FLOAT_ACCOUNT are required; see -h")
	}
	q.client, err = prepaid.NewClient(config)
	return err
}

func (q *quickstart) tearDown() {
	if q.client != nil {
		_ = q.client.Close()
	}
	if q.emulator != nil {
		_ = q.emulator.Close()
	}
}

// say prints a line of a step.
func (q *quickstart) say(format string, args ...any) { fmt.Fprintf(q.out, "    "+format+"\n", args...) }
