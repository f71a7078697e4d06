package prepaidtest

import (
	"fmt"
	"io"
)

// Save writes the state as one JSON document, with which Options.State starts another server. You can call Save at
// any time, even after Close. The same state always gives the same text.
//
// The document has secrets in plain text, so that clients and receivers still work: access tokens, the webhooks' HMAC
// secrets, PINs and one-time passwords, the private key of the PIN certificate, and all personal data. Options, logs of
// requests and deliveries, rate limit windows, armed faults and functions are not part of the document: see Options.State.
func (s *Server) Save(w io.Writer) error {
	s.service.Clock.Settle()
	text, err := s.service.Save()
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("prepaidtest: write the state: %w", err)
	}
	return nil
}
