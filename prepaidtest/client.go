package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid"
)

// Config returns the settings of a client of s, with credentials. The environment is test, or production with
// [Options].Production. In the test environment, errors print the service's description. Tests do not wait: pauses between
// attempts are a millisecond, and no pause follows a failed token request. With [Options].InMemory, the pauses are those of
// production. AttemptTimeout is 2 s: a transfer of unknown outcome is repeated at the earliest 2 s after its last attempt (see
// [prepaid.AccountsService.NotBefore]). The emulator carries out a repeat that overtakes the first request, too. Set
// AttemptTimeout shorter if a test has many repeats, and longer if a response is delayed by more than 2 s.
func (s *Server) Config() prepaid.Config {
	config := prepaid.Config{
		BaseURL:          s.URL,
		Vendor:           s.settings.Vendor,
		TestEnvironment:  !s.settings.Production,
		ClientID:         s.settings.ClientID,
		ClientSecret:     prepaid.NewSecret(s.settings.ClientSecret),
		ShowDescriptions: !s.settings.Production,
	}
	if s.network != nil {
		config.Transport = s.network.transport()
		return config
	}
	config.AttemptTimeout = 2 * time.Second // with 1 s, 200 callers with -race were paid twice on a busy machine
	config.Retry = prepaid.RetryPolicy{
		MinWait: time.Millisecond, MaxWait: time.Millisecond, InFlightWait: time.Millisecond, TokenHold: time.Nanosecond,
	}
	return config
}

// Client returns the client of s: NewClient(s.Config()), made by the first call. Every call returns the same client, which remembers unknown
// outcomes; for a second process, make one with NewClient. Do not close it: Close, or the end of the test, closes the client with the server.
func (s *Server) Client() *prepaid.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client.Client == nil {
		client, err := prepaid.NewClient(s.Config())
		if err != nil {
			s.fail("Client: %v", err)
			return nil
		}
		s.client, s.closing = ownClient{client}, append(s.closing, client.Close)
	}
	return s.client.Client
}

// ownClient is the client of a server.
type ownClient struct{ *prepaid.Client }
