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

// advise says what is known of the PIN, and what to do. Which word the service has for a wrong password is not in its
// reference, so that the step and the outcome decide, and not the code.
func advise(err error) (verdict, string) {
	failed, isStep := errors.AsType[*stepError](err)
	switch {
	case err == nil:
		return pinChanged, "The new PIN counts."
	case !isStep:
		return pinAsBefore, "The PIN is as it was."
	}
	outcome := prepaid.OutcomeOf(failed.err)
	switch failed.step {
	case "initiate":
		return pinAsBefore, "The PIN is as it was. " + adviseInitiate(outcome)
	case "validate":
		return pinAsBefore, "The PIN is as it was. " + adviseSealed(outcome)
	}
	if outcome == prepaid.OutcomeUnknown {
		return pinUnknown, "Which PIN counts cannot be read. Let the cardholder try the card, the new PIN first, and start again " +
			"only if the old one still counts. Wrong tries may block the card."
	}
	return pinAsBefore, "The PIN is as it was. " + adviseSealed(outcome)
}

func adviseInitiate(outcome prepaid.Outcome) string {
	switch outcome {
	case prepaid.OutcomeRejected:
		return "No password was sent. Check the account: its registration needs a mobile number and an e-mail address."
	case prepaid.OutcomeNotProcessed:
		return "No password was sent. Start again later."
	default:
		return "A password may be on its way. Start again, and use the one that comes last."
	}
}

// adviseSealed is for a validate, which changes nothing, and for an execute that was not done.
func adviseSealed(outcome prepaid.Outcome) string {
	switch outcome {
	case prepaid.OutcomeRejected:
		return "The password was wrong, or its time is over. Start again for a new one; wrong tries may block the card."
	case prepaid.OutcomeNotProcessed:
		return "This try did not count. Start again later."
	default:
		return "This try may have counted. Start again."
	}
}
