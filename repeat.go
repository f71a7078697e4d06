package prepaid

import (
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
)

// repeatRule is the one place that says when a request may be sent again under its request id, and which refusal of the
// repeat settles the unknown outcome of the first. A client's rule is that of its [Config]; an error that no client made
// is judged by the default one.
type repeatRule struct {
	wait  time.Duration
	codes []ErrorCode // that settle, in addition to CodeInvalidRequest
}

func (c Config) repeatRule() *repeatRule {
	whole := c.withDefaults()
	wait := whole.AttemptTimeout + whole.Retry.InFlightWait
	if wait < 0 { // out of range: both are at least zero
		wait = math.MaxInt64
	}
	return &repeatRule{wait: wait, codes: slices.Clone(whole.RefusalCodes)}
}

// errEarlierCall is the cause of an unknown outcome that a call takes over from one before it.
var errEarlierCall = errors.New("a call before this one, whose outcome is unknown")

// notBefore is zero when nothing was sent.
func (r *repeatRule) notBefore(lastSent time.Time) time.Time {
	if lastSent.IsZero() {
		return time.Time{}
	}
	return lastSent.Add(r.wait)
}

// settles reports whether a refusal of a request that was sent then proves that what was sent before it, and could still
// be under way until notBefore, moved no money. A zero notBefore means that this is not known.
func (r *repeatRule) settles(outcome Outcome, refusal error, sent, notBefore time.Time) bool {
	if outcome != OutcomeRejected || notBefore.IsZero() || sent.Before(notBefore) {
		return false
	}
	if errors.Is(refusal, ErrTransferFailed) {
		return true
	}
	response, ok := errors.AsType[*APIError](refusal)
	return ok && response.StatusCode == http.StatusBadRequest &&
		(response.Code == CodeInvalidRequest || slices.Contains(r.codes, response.Code)) &&
		// Gateways send an invalid_request of their own as application/json.
		strings.HasPrefix(mediaTypeOf(response.Header.Get("Content-Type")), "application/vnd.")
}

// settledBy is settles for a refusal that was returned to a caller.
func (r *repeatRule) settledBy(refusal *CallError, lastSent time.Time) bool {
	return r.settles(refusal.Outcome, refusal.Err, refusal.LastSent, r.notBefore(lastSent))
}

// SettlesDoubt reports whether err, the result of sending a transfer or direct entry out again under its request id,
// proves that no earlier sending moved the money. lastSent is the time of the last sending before it,
// [CallError].LastSent. The service returns the cached response for a request id that it has carried out (section 8), so
// its own refusal of the same params proves that it has not, under two conditions. The refused request, err's own LastSent,
// was sent no earlier than [AccountsService.NotBefore] of lastSent. And the refusal is a failed transfer
// ([ErrTransferFailed]), or a 400 in the service's own form with the code invalid_request or one of [Config].RefusalCodes,
// as application/vnd.<vendor>+json. Anything else proves nothing: another status or another code, such as one that refuses
// the repeat because the first is still under way, a refusal that a gateway may have sent, a request that was not
// processed, a fault found before sending.
//
// A zero lastSent means that the time is not known: nothing settles. The params must be those of the earlier sending. An
// error of a [Client] is judged by the client's own Config, any other by the defaults. The client applies this rule to
// the calls that it has made itself; what was sent by another process is for its caller to judge.
func SettlesDoubt(err error, lastSent time.Time) bool {
	call, ok := errors.AsType[*CallError](err)
	if !ok || call == nil {
		return false
	}
	rule := call.rule
	if rule == nil {
		rule = Config{}.repeatRule()
	}
	return rule.settledBy(call, lastSent)
}
