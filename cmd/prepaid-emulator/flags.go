package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/page"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// environmentPrefix is the prefix of each flag's variable: -client-id is PREPAID_EMULATOR_CLIENT_ID.
const environmentPrefix = "PREPAID_EMULATOR_"

// settings are the values of the flags.
type settings struct {
	prepaidtest.Options

	allowRemote bool
	seed        string
	noRateLimit bool
	faults      []armed
	hookFaults  []prepaidtest.DeliveryFault
	hookRoots   string
	log         string
	keys        []dipKey
	checkHealth bool
	openapi     bool
	version     bool
}

// armed is a fault given with -fault.
type armed struct {
	operation string
	fault     prepaidtest.Fault
}

// dipKey is one key of an application, given with -dip-key.
type dipKey struct{ application, key string }

// errUsage means that the error was already printed.
var errUsage = errors.New("wrong flags")

// parse reads the flags, and the environment for absent flags. It prints errors to the writer problems and then
// returns errUsage. For -h it prints the help to out and returns flag.ErrHelp.
func parse(arguments []string, environment func(string) (string, bool), out, problems io.Writer) (*settings, error) {
	s := &settings{}
	flags := s.flags()
	flags.SetOutput(io.Discard)
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
			s.noRateLimit = true
		}
		err = s.check()
	}
	if err != nil {
		fmt.Fprintf(problems, "prepaid-emulator: see -h: %v\n", err)
		return nil, errUsage
	}
	return s, nil
}

func variable(name string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func fromEnvironment(flags *flag.FlagSet, environment func(string) (string, bool)) error {
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var faults []error
	flags.VisitAll(func(f *flag.Flag) {
		value, set := environment(variable(f.Name))
		if !set || value == "" || given[f.Name] {
			return
		}
		values := []string{value}
		if slices.Contains([]string{"fault", "hook-fault", "dip-key"}, f.Name) {
			values = strings.Split(value, ";")
		}
		for _, value := range values {
			if err := flags.Set(f.Name, strings.TrimSpace(value)); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", variable(f.Name), err))
			}
		}
	})
	return errors.Join(faults...)
}

func (s *settings) check() error {
	if _, _, err := net.SplitHostPort(s.ListenOn); err != nil {
		return errors.New("-listen must be host:port, for example 127.0.0.1:8480")
	}
	if !page.IsLoopback(s.ListenOn) && !s.allowRemote && !s.checkHealth {
		return errors.New("-listen is not a loopback address: anyone who reaches it can use the emulator and see its page. Add -allow-remote if you want that")
	}
	if !slices.Contains([]string{"text", "json", "off"}, s.log) {
		return errors.New("-log must be text, json or off")
	}
	if s.RateLimit < 1 {
		return errors.New("-rate-limit must be 1 or more; -no-rate-limit turns it off")
	}
	for _, duration := range []struct {
		flag  string
		value time.Duration
	}{{"-token-lifetime", s.TokenLifetime - 1}, {"-report-delay", s.ReportDelay}, {"-simulation-delay", s.SimulationDelay}, {"-alert-every", s.AlertEvery - 1}, {"-hook-timeout", s.DeliveryTimeout - 1}} {
		if duration.value < 0 {
			return errors.New(duration.flag + " is out of range")
		}
	}
	return s.checkSignature()
}
