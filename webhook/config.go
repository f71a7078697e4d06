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

// Config configures a [Handler]. Verifier or AllowUnverified is required, and at least one of OnTransaction, OnType and
// OnOther. The zero value of any other field means the default stated there.
type Config struct {
	// Verifier decides which messages come from the service. If it has a method Validate() error, as [HMAC] does,
	// NewHandler calls that method. With a Verifier, AllowUnverified has no effect.
	Verifier Verifier
	// AllowUnverified accepts every message if there is no Verifier. Use it for tests, or behind a proxy that verifies.
	AllowUnverified bool
	// Claims suppresses duplicates. The default, Memory(0, 0), is only right for a single replica.
	Claims ClaimStore
	// MaxBody is the longest body accepted, in bytes: 1 MiB by default.
	MaxBody int64
	// Timeout bounds the handling of one message, its claim included, and is the length of the lease: 20 s by default.
	// Timeout also bounds the receipt of the body, unless the server's ReadTimeout is shorter.
	Timeout time.Duration
	// OnTransaction handles messages of type transaction. Its context ends with Timeout, not with the connection: work in
	// progress can finish even if the service has disconnected. If OnTransaction is nil, OnOther handles these messages.
	//
	// An error, a panic or an overrun of Timeout results in a 500, and the message may be handled again. The Handler does
	// not wait for a function that ignores its context. While the function runs, this Handler does not handle the message
	// a second time, but after the lease another replica may handle it.
	OnTransaction func(context.Context, *prepaid.Message) error
	// OnType handles messages of the listed types, for example pings and alerts. The reference does not name these types:
	// ask the operator. Otherwise OnType is like OnTransaction; see [Decoded] for functions with a typed payload.
	OnType map[prepaid.MessageType]func(context.Context, *prepaid.Message) error
	// OnOther handles every other message, including future types. If OnOther is nil, such messages are only acknowledged,
	// which is enough for a ping. Otherwise OnOther is like OnTransaction; a message without an ID is not claimed.
	OnOther func(context.Context, *prepaid.Message) error
	// OnHandled is called, for your counters, when your function has handled a message. If duplicate is true, the
	// message was handled before and was not passed to your function again. OnHandled is not called for messages that
	// are only acknowledged. It must return soon.
	OnHandled func(ctx context.Context, m *prepaid.Message, duplicate bool)
	// OnFailure is called with the reason when a request did not get a 200; the response does not contain the reason.
	// status is that of the response. It is 0 if a claim could not be marked as done or released, which does not change
	// the response. The error contains message content only if your function put it there. OnFailure must return soon.
	OnFailure func(ctx context.Context, status int, err error)
}

// validate returns all faults at once as a *prepaid.ValidationError.
func (c Config) validate() error {
	var faults faultList
	switch checker, ok := c.Verifier.(interface{ Validate() error }); {
	case c.Verifier == nil && !c.AllowUnverified:
		faults.add("verifier", "is required unless unverified messages are allowed")
	case ok:
		if err := guarded(checker.Validate); err != nil {
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

// checkTypes adds at most one fault per rule.
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
type faultList []prepaid.FieldError

func (l *faultList) add(field, rule string) {
	*l = append(*l, prepaid.FieldError{Field: field, Rule: rule})
}

// nest adds the faults of a part, or one fault for an error of another type, whose text may contain anything.
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
