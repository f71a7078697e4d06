package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid"
)

// Config points a client at s, in the test environment unless s is set to Production, with credentials and with
// pauses of a millisecond between attempts and none after a failed token request, so that tests do not wait. An attempt
// ends after 2 s: a transfer of unknown outcome is sent again no earlier than that after its last attempt, as
// [prepaid.AccountsService.NotBefore] says, and the emulator carries out a repeat that overtakes it. Set AttemptTimeout
// shorter for a test in which that happens often, and longer when a response is delayed for longer. With [InMemory], pauses
// are those of production. In the test environment errors print the service's description.
func (s *Server) Config() prepaid.Config {
	environment := prepaid.EnvironmentTest
	if s.settings.production {
		environment = prepaid.EnvironmentProduction
	}
	config := prepaid.Config{
		BaseURL:     s.URL,
		Vendor:      s.settings.vendor,
		Environment: environment,
		Credentials: prepaid.Credentials{
			ClientID:     s.settings.service.Tokens.ClientID,
			ClientSecret: prepaid.NewSecret(s.settings.service.Tokens.ClientSecret),
		},
		ShowDescriptions: !s.settings.production,
	}
	if s.settings.network != nil {
		config.Transport = s.settings.network.transport()
		return config
	}
	config.AttemptTimeout = 2 * time.Second
	config.Retry = prepaid.RetryPolicy{
		MinWait: time.Millisecond, MaxWait: time.Millisecond, InFlightWait: time.Millisecond, TokenHold: time.Nanosecond,
	}
	return config
}

// Client is NewClient(s.Config()). It is closed with the server, that is, with the test.
func (s *Server) Client() *prepaid.Client {
	client, err := prepaid.NewClient(s.Config())
	if err != nil {
		s.fail("Client: %v", err)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = append(s.closing, client.Close)
	return client
}
