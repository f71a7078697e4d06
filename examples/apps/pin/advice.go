package main

import (
	"errors"

	"github.com/cardprograms/prepaid"
)

// pinState is the known state of the PIN after a change.
type pinState int

const (
	pinChanged pinState = iota
	pinAsBefore
	pinUnknown
)

// advise returns the known state of the PIN, and advice. The reference does not show the service's code for a wrong
// password, so advise uses the step and the outcome, not the code.
func advise(err error) (pinState, string) {
	failed, isStep := errors.AsType[*stepError](err)
	outcome := prepaid.OutcomeOf(err)
	switch {
	case err == nil:
		return pinChanged, "The new PIN is valid."
	case !isStep:
		return pinAsBefore, "The PIN is unchanged."
	case failed.step == "execute" && outcome == prepaid.OutcomeUnknown:
		return pinUnknown, "Which PIN is valid is unknown. Let the cardholder try the card, the new PIN first, and start again " +
			"only if the old one is still valid. Wrong tries may block the card."
	case outcome == prepaid.OutcomeNotProcessed:
		return pinAsBefore, "The PIN is unchanged. Nothing was sent or counted. Start again later."
	case failed.step == "initiate" && outcome == prepaid.OutcomeRejected:
		return pinAsBefore, "The PIN is unchanged. No password was sent. Check the account: " +
			"its registration needs a mobile number and an e-mail address."
	case failed.step == "initiate":
		return pinAsBefore, "The PIN is unchanged. A password may be on its way. Start again, and use the one that arrives last."
	case outcome == prepaid.OutcomeRejected:
		return pinAsBefore, "The PIN is unchanged. The password was wrong or has expired. Start again for a new one; " +
			"wrong tries may block the card."
	}
	return pinAsBefore, "The PIN is unchanged. This try may have counted. Start again."
}
