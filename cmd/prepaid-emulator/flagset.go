package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// flags declares every flag with its default. The word in backquotes in a usage is the placeholder of the value.
func (s *settings) flags() *flag.FlagSet {
	f := flag.NewFlagSet("prepaid-emulator", flag.ContinueOnError)
	f.StringVar(&s.ListenOn, "listen", "127.0.0.1:8480", "`host:port` to listen on; port 0 picks a free port")
	f.BoolVar(&s.allowRemote, "allow-remote", false, "allow -listen on an address that others can reach, and any Host header on the page")
	f.StringVar(&s.seed, "seed", "", "JSON `file` with companies, accounts, reports and hooks to start with; default a small demo program")
	f.StringVar(&s.StateFile, "state", "", "`file` that keeps the state across restarts; if it has a state, the emulator continues from it and seeds nothing")
	f.StringVar(&s.Vendor, "vendor", "vendor", "`word` in application/vnd.<vendor>+json")
	f.StringVar(&s.ClientID, "client-id", "emulator-client", "`id` of the OAuth client")
	f.StringVar(&s.ClientSecret, "client-secret", "emulator-secret", "`secret` of the OAuth client; better set in the environment")
	f.IntVar(&s.RateLimit, "rate-limit", 1000, "`requests` allowed per address in 10 s")
	f.BoolVar(&s.noRateLimit, "no-rate-limit", false, "no limit at all, for load tests")
	f.BoolVar(&s.Lenient, "lenient", false, "accept what the reference does not allow: unknown members, any Content-Type, values over the limits")
	f.BoolVar(&s.Production, "production", false, "act as a production environment, without the simulator")
	f.DurationVar(&s.TokenLifetime, "token-lifetime", time.Hour, "`duration` for which an access token is valid")
	f.DurationVar(&s.ReportDelay, "report-delay", 100*time.Millisecond, "`duration` of a report run")
	f.DurationVar(&s.SimulationDelay, "simulation-delay", 100*time.Millisecond, "`duration` until clear and reverse_clear take effect")
	f.Func("fault", "arm a fault, `OPERATION=FAULT`; may be repeated (in the environment: separated by semicolons)", s.addFault)
	f.StringVar(&s.log, "log", "text", "one line per request on standard error: `text`, json or off")
	s.hookFlags(f)
	s.serviceFlags(f)
	f.Func("start-at", "set the clock at start, for example 2030-01-31T08:00:00Z; `time` in RFC 3339", func(text string) error {
		at, err := time.Parse(time.RFC3339, text)
		s.StartAt = at
		if err != nil || at.Year() < 1970 || at.Year() > 2200 {
			return errors.New("must have the form 2030-01-31T08:00:00Z and a year from 1970 to 2200")
		}
		return nil
	})
	f.BoolVar(&s.FrozenClock, "frozen-clock", false, "stop the clock, which then moves only with the buttons of the page; there is no rate limit unless -rate-limit sets one, whose window moves with the clock")
	f.Func("deterministic", "produce the same IDs in each run, derived from this `number`", func(text string) error {
		seed, err := strconv.ParseUint(text, 10, 64)
		s.RandomSeed = &seed
		if err != nil {
			return errors.New("must be a number, 0 or more")
		}
		return nil
	})
	f.BoolVar(&s.checkHealth, "health", false, "ask the emulator at -listen whether it serves, and stop: with status 0 if it does, else with 1 and the reason")
	f.BoolVar(&s.openapi, "openapi", false, "print the service as an OpenAPI 3.1 document, and stop")
	f.BoolVar(&s.version, "version", false, "print the version and stop")
	return f
}

func (s *settings) addFault(text string) error {
	operation, form, found := strings.Cut(text, "=")
	if !found {
		return errors.New("must have the form OPERATION=FAULT, for example 'POST /accounts/{id}/transfer=commit-then-drop'")
	}
	operation, form = strings.TrimSpace(operation), strings.TrimSpace(form)
	if operation != prepaidtest.AnyOperation && !slices.Contains(prepaidtest.Operations(), operation) {
		return errors.New("there is no such operation; use a method and a path of the reference, for example POST /accounts/{id}/transfer, or * for all")
	}
	fault, err := prepaidtest.ParseFault(form)
	if err != nil {
		return err
	}
	s.faults = append(s.faults, armed{operation, fault})
	return nil
}

// help prints every flag with its default, the forms of faults and some examples.
func help(out io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(out, `prepaid-emulator runs an emulator of the card account service on this machine: all operations under /3.0/, and a
page at / that shows what happens in it.

Usage: prepaid-emulator [flags]

`)
	flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(out, "  %s\n        %s", strings.TrimRight("-"+f.Name+" "+value, " "), usage)
		if f.DefValue != "" && f.DefValue != "false" {
			fmt.Fprintf(out, " (default %s)", f.DefValue)
		}
		fmt.Fprintln(out)
	})
	fmt.Fprint(out, `
A flag that is not given is read from the environment: -client-id from PREPAID_EMULATOR_CLIENT_ID, and so on.

Faults (-fault 'OPERATION=FAULT'; operations as in the reference, or * for all):
`)
	for _, form := range prepaidtest.FaultForms() {
		fmt.Fprintln(out, "  "+form)
	}
	fmt.Fprint(out, `
Delivery faults (-hook-fault 'FAULT'):
`)
	for _, form := range prepaidtest.DeliveryFaultForms() {
		fmt.Fprintln(out, "  "+form)
	}
	fmt.Fprint(out, `
Examples:
  prepaid-emulator
  prepaid-emulator -vendor acme -allow-http-hooks
  prepaid-emulator -state emulator.state -seed seed.json
  prepaid-emulator -seed seed.json -frozen-clock -start-at 2030-01-31T08:00:00Z -deterministic 1
  prepaid-emulator -fault 'POST /accounts/{id}/transfer=commit-then-drop' -fault '*=delay 250ms p0.1'
  prepaid-emulator -allow-http-hooks -hook-retries 1s,10s,1m -hook-fault 'lose-response x2'
  prepaid-emulator -listen 127.0.0.1:0 -log json 2>requests.log

The exit status is 0 after SIGINT (Ctrl+C) or SIGTERM, 1 if it cannot start or if
-health finds no emulator, and 2 for invalid flags.
`)
}
