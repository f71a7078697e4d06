package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/page"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// errUsage means that the error was already printed.
var errUsage = errors.New("wrong flags")

// parse reads the flags, and the environment for absent flags. It prints errors to the writer problems and then
// returns errUsage. For -h it prints the help to out and returns flag.ErrHelp.
func parse(arguments []string, environment func(string) (string, bool), out, problems io.Writer) (*settings, error) {
	s := &settings{}
	flags := s.flags()
	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		help(out, flags)
		return nil, flag.ErrHelp
	}
	if err == nil && flags.NArg() > 0 {
		err = errors.New("there is an argument that is not a flag")
	}
	if err == nil {
		err = fromEnvironment(flags, environment)
	}
	if err == nil {
		limited := false
		flags.Visit(func(f *flag.Flag) { limited = limited || f.Name == "rate-limit" })
		if s.FrozenClock && !limited { // the window of the rate limit would never end, and would lock all callers out
			s.NoRateLimit = true
		}
		if _, _, wrong := net.SplitHostPort(s.ListenOn); wrong != nil {
			err = errors.New("-listen must be host:port, for example 127.0.0.1:8480")
		} else if !page.IsLoopback(s.ListenOn) && !s.AllowRemote && !s.CheckHealth {
			err = errors.New("-listen is not a loopback address: anyone who reaches it can use the emulator and see its page. Add -allow-remote if you want that")
		}
	}
	if err != nil {
		fmt.Fprintf(problems, "prepaid-emulator: see -h: %v\n", err)
		return nil, errUsage
	}
	return s, nil
}

// variable is the variable of a flag: -client-id is PREPAID_EMULATOR_CLIENT_ID.
func variable(name string) string {
	return "PREPAID_EMULATOR_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func fromEnvironment(flags *flag.FlagSet, environment func(string) (string, bool)) error {
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var faults []error
	flags.VisitAll(func(f *flag.Flag) {
		text, set := environment(variable(f.Name))
		if !set || text == "" || given[f.Name] {
			return
		}
		texts := []string{text}
		if v, ok := f.Value.(*value); ok && v.repeated() {
			texts = strings.Split(text, ";")
		}
		for _, text := range texts {
			if err := flags.Set(f.Name, strings.TrimSpace(text)); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", variable(f.Name), err))
			}
		}
	})
	return errors.Join(faults...)
}

// help prints every flag with its default, the forms of faults and some examples.
func help(out io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(out, `prepaid-emulator runs an emulator of the card account service on this machine: all operations under /3.0/, and a
page at / that shows what happens in it.

Usage: prepaid-emulator [flags]

`)
	flags.SetOutput(out)
	flags.PrintDefaults()
	fmt.Fprintf(out, `
A flag that is not given is read from the environment: -client-id from PREPAID_EMULATOR_CLIENT_ID, and so on.

Faults (-fault 'OPERATION=FAULT'; operations as in the reference, or * for all):
  %s

Delivery faults (-hook-fault 'FAULT'):
  %s

Examples:
  prepaid-emulator -vendor acme -state emulator.state -seed seed.json
  prepaid-emulator -frozen-clock -start-at 2030-01-31T08:00:00Z -deterministic 1
  prepaid-emulator -fault 'POST /accounts/{id}/transfer=commit-then-drop' -fault '*=delay 250ms p0.1'

The exit status is 0 after SIGINT (Ctrl+C) or SIGTERM, 1 if it cannot start or if -health finds no emulator, and 2 for flags
that cannot be read.
`, strings.Join(prepaidtest.FaultForms(), "\n  "), strings.Join(prepaidtest.DeliveryFaultForms(), "\n  "))
}
