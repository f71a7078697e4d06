package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/cardprograms/prepaid"
)

const (
	defaultMaxBody = 1 << 20
	defaultTimeout = 20 * time.Second
	defaultIDs     = 100_000
	defaultKeep    = 24 * time.Hour
	defaultKeepKey = time.Hour
)

// Config sets up a [Handler]. Verifier or AllowUnverified is required, and OnTransaction, OnType or OnOther; the zero
// value of every other field is its stated default.
type Config struct {
	// Verifier decides which messages are the service's. When it has a method Validate() error, as [HMAC] does,
	// NewHandler calls it. When it is set, AllowUnverified has no effect.
	Verifier Verifier
	// AllowUnverified takes every message for genuine when there is no Verifier. For tests, and behind something
	// that verifies.
	AllowUnverified bool
	// Claims suppresses duplicates: Memory(0, 0) when nil, which is right for one replica only.
	Claims ClaimStore
	// MaxBody is the longest body taken, in bytes: 1 MiB when zero.
	MaxBody int64
	// Timeout bounds the handling of one message, its claim included, and is the length of its lease: 20 s when
	// zero. It bounds the receipt of the body too, unless the server's own ReadTimeout is shorter.
	Timeout time.Duration
	// OnTransaction handles messages of type transaction. Its context ends with Timeout, not with the connection: what
	// was begun is finished even when the service has hung up. nil to have them go to OnOther.
	//
	// An error, a panic or an overrun of Timeout is answered with 500 and lets the message be handled again. A
	// function that ignores its context is not waited for; while it runs on, this Handler does not handle the
	// message a second time, but after the lease another replica may.
	OnTransaction func(context.Context, *prepaid.Message) error
	// OnType handles messages of the types that it names, such as those of pings and alerts, which the reference does
	// not tell: ask the operator. Rules as for OnTransaction; see [Decoded] for functions of a typed payload.
	OnType map[prepaid.MessageType]func(context.Context, *prepaid.Message) error
	// OnOther handles every other message, and whatever comes later. nil acknowledges them, which is all that a ping
	// needs. Rules as for OnTransaction; a message without an id is not claimed.
	OnOther func(context.Context, *prepaid.Message) error
	// OnFailure is told why a request was not answered with 200, since the answer does not say. Status is what was
	// answered, or 0 for a claim that could not be noted as done or free, which changes no answer. The error holds
	// content only if your function put it there. It must return soon; nil tells nobody.
	OnFailure func(ctx context.Context, status int, err error)
}

// validate returns all faults at once as a *prepaid.ValidationError.
func (c Config) validate() error {
	var faults faultList
	switch checker, ok := c.Verifier.(interface{ Validate() error }); {
	case c.Verifier == nil && !c.AllowUnverified:
		faults.add("verifier", "is required unless unverified messages are allowed")
	case ok:
		if err := guard(checker.Validate); err != nil {
			faults.nest("verifier", err)
		}
	}
	if c.OnTransaction == nil && c.OnOther == nil && len(c.OnType) == 0 {
		faults.add("on_transaction", "or on_other is required")
	}
	c.checkTypes(&faults)
	if c.MaxBody < 0 {
		faults.add("max_body", ruleNegative)
	}
	if c.Timeout < 0 {
		faults.add("timeout", ruleNegative)
	}
	return faults.err()
}

// checkTypes adds one fault a rule.
func (c Config) checkTypes(faults *faultList) {
	var empty, missing bool
	for kind, handle := range c.OnType {
		empty = empty || kind == ""
		missing = missing || handle == nil
	}
	if empty {
		faults.add("on_type", "must have no empty type")
	}
	if missing {
		faults.add("on_type", "must have a function for each type")
	}
	if _, twice := c.OnType[prepaid.MessageTypeTransaction]; twice && c.OnTransaction != nil {
		faults.add("on_type", "must not have the type that on_transaction handles")
	}
}

const (
	ruleRequired = "is required"
	ruleNegative = "must not be negative"
)

// faultList collects faults.
type faultList []prepaid.Fault

func (l *faultList) add(field, rule string) {
	*l = append(*l, prepaid.Fault{Field: field, Rule: rule})
}

// nest adds the faults of a part, or one fault for an error of another kind, whose text may say anything.
func (l *faultList) nest(part string, err error) {
	invalid, ok := errors.AsType[*prepaid.ValidationError](err)
	if !ok {
		l.add(part, "is refused by its own Validate")
		return
	}
	for _, fault := range invalid.Faults {
		l.add(part+"."+fault.Field, fault.Rule)
	}
}

func (l faultList) err() error {
	if len(l) == 0 {
		return nil
	}
	return &prepaid.ValidationError{Faults: l}
}
