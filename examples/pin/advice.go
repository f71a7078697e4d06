package main

import (
	"errors"

	"github.com/cardprograms/prepaid"
)

// verdict is what is known of the PIN after a change.
type verdict int

const (
	pinChanged verdict = iota
	pinAsBefore
	pinUnknown
)

// advise says what is known of the PIN, and what to do. The reference does not show the service's code for a wrong
// password, so step and outcome decide, not the code.
func advise(err error) (verdict, string) {
	failed, isStep := errors.AsType[*stepError](err)
	switch {
	case err == nil:
		return pinChanged, "The new PIN is valid."
	case !isStep:
		return pinAsBefore, "The PIN is unchanged."
	}
	outcome := prepaid.OutcomeOf(failed.err)
	switch failed.step {
	case "initiate":
		return pinAsBefore, "The PIN is unchanged. " + adviseInitiate(outcome)
	case "validate":
		return pinAsBefore, "The PIN is unchanged. " + adviseSealed(outcome)
	}
	if outcome == prepaid.OutcomeUnknown {
		return pinUnknown, "Which PIN is valid is unknown. Let the cardholder try the card, the new PIN first, and start again " +
			"only if the old one is still valid. Wrong tries may block the card."
	}
	return pinAsBefore, "The PIN is unchanged. " + adviseSealed(outcome)
}

func adviseInitiate(outcome prepaid.Outcome) string {
	switch outcome {
	case prepaid.OutcomeRejected:
		return "No password was sent. Check the account: its registration needs a mobile number and an e-mail address."
	case prepaid.OutcomeNotProcessed:
		return "No password was sent. Start again later."
	default:
		return "A password may be on its way. Start again, and use the one that arrives last."
	}
}

// adviseSealed is for validate, which changes nothing, and for an execute that was not applied.
func adviseSealed(outcome prepaid.Outcome) string {
	switch outcome {
	case prepaid.OutcomeRejected:
		return "The password was wrong or has expired. Start again for a new one; wrong tries may block the card."
	case prepaid.OutcomeNotProcessed:
		return "This try did not count. Start again later."
	default:
		return "This try may have counted. Start again."
	}
}
