package webhook

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// Registrations is the part of *[prepaid.HooksService] that [Ensure] needs.
type Registrations interface {
	// List iterates over all hooks.
	List(ctx context.Context, paging prepaid.Paging) iter.Seq2[*prepaid.Hook, error]
	// Get returns one hook.
	Get(ctx context.Context, id prepaid.HookID) (*prepaid.Hook, error)
	// Create makes a hook.
	Create(ctx context.Context, params prepaid.CreateHookParams) (prepaid.HookID, error)
	// Update changes a hook.
	Update(ctx context.Context, id prepaid.HookID, params prepaid.UpdateHookParams) error
}

var _ Registrations = (*prepaid.HooksService)(nil)

// Ensure makes sure that the hook with want.URI exists and is as wanted, and returns its ID. It may run at every start,
// in one process at a time: the service may let two processes that find no hook create one each.
//
// An existing hook is found on any page of the list; addresses are compared as URLs (case of the host, default port,
// empty path). Only differences are sent (companies are compared as a set); without differences, nothing is sent. The
// key is sent only if HMACKeyID differs, since the service does not return the secret: a new secret needs a new ID. All
// fields of want are required, even if the hook exists. With Enabled, the service pings the receiver before it responds
// to a change, so the receiver must listen before Ensure runs.
//
// After a creation or change of unknown outcome Ensure reads the hook, at once and after 1 s and 3 s, rather than
// create a second hook or overwrite a later change of another program. If the hook is still not as wanted, the error
// has [prepaid.OutcomeUnknown]; run Ensure again later.
//
// Errors: *[prepaid.ValidationError] if a field of want is missing; [prepaid.ErrAmbiguous] if several hooks have the
// address; and those of [prepaid.HooksService.List], Create, Get and Update.
func Ensure(ctx context.Context, hooks Registrations, want prepaid.CreateHookParams, options ...EnsureOption) (id prepaid.HookID, err error) {
	var set ensureSettings
	for _, option := range options {
		if option != nil {
			option(&set)
		}
	}
	if err := checkWanted(hooks, want, set); err != nil {
		return "", err
	}
	if set.keys != nil {
		if err := set.keys.Add(want.HMACKeyID, want.HMACKeySecret); err != nil {
			return "", err
		}
	}
	found, err := findHook(ctx, hooks, want.URI)
	if err != nil {
		return "", err
	}
	if found == nil {
		created, failure := hooks.Create(ctx, want)
		if failure == nil {
			return created, nil
		}
		if found, err = findCreated(ctx, hooks, want.URI, failure); err != nil {
			return "", err
		}
	}
	if change, differs := difference(found, want); differs {
		if err := update(ctx, hooks, found.ID, change, want); err != nil {
			return "", err
		}
		if set.keys != nil && change.HMACKeyID != "" {
			set.keys.Retire(found.HMACKeyID, set.keep)
		}
	}
	return found.ID, nil
}

// EnsureOption is an option of [Ensure].
type EnsureOption func(*ensureSettings)

type ensureSettings struct {
	rotate bool
	keys   *Keys // set with rotate
	keep   time.Duration
}

// RotateIn makes [Ensure] change the receiver's keys together with the hook, so that no message is refused meanwhile. It
// adds the wanted key to keys before the hook gets it, and accepts the hook's previous key for the duration keep
// (default 1 h) after the change. Until the hook has certainly changed, both keys are accepted.
//
// If the process may be killed in between, start it with both keys in the ring. Leave the old key in your configuration
// until a start has found the hook changed and the duration keep has passed since then. Give all replicas the new key
// before one of them runs Ensure with it; the rings of the other replicas do not change. If the ring has another
// secret for the ID of a key, that is an hmac_key_id fault: a new secret needs a new ID.
func RotateIn(keys *Keys, keep time.Duration) EnsureOption {
	if keep <= 0 {
		keep = defaultKeepKey
	}
	return func(s *ensureSettings) { s.rotate, s.keys, s.keep = true, keys, keep }
}

// checkWanted refuses empty fields, which an update would treat as "leave unchanged". Create and Update check everything
// else.
func checkWanted(hooks Registrations, want prepaid.CreateHookParams, set ensureSettings) error {
	var faults faultList
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"hooks", hooks == nil || hooks == Registrations((*prepaid.HooksService)(nil))},
		{"uri", want.URI == ""},
		{"scope", want.Scope == nil},
		{"filter_spec", want.FilterSpec == ""},
		{"reliability_mode", want.ReliabilityMode == ""},
		{"hmac_key_id", want.HMACKeyID == ""},
		{"hmac_key_secret", want.HMACKeySecret.IsZero()},
		{"keys", set.rotate && set.keys == nil},
	} {
		if field.missing {
			faults.add(field.name, ruleRequired)
		}
	}
	if set.keys != nil {
		known, ok := set.keys.Keys()[want.HMACKeyID]
		if ok && !strings.EqualFold(known.Reveal(), want.HMACKeySecret.Reveal()) {
			faults.add("hmac_key_id", "stands for another secret in the ring")
		}
	}
	return faults.err()
}

// findHook returns nil if no hook has the address. It reads all pages, to distinguish one hook from several.
func findHook(ctx context.Context, hooks Registrations, uri string) (*prepaid.Hook, error) {
	var found *prepaid.Hook
	address := normal(uri)
	for hook, err := range hooks.List(ctx, prepaid.Paging{}) {
		if err != nil {
			return nil, err
		}
		if normal(hook.URI) != address {
			continue
		}
		if found != nil {
			return nil, prepaid.ErrAmbiguous
		}
		found = hook
	}
	return found, nil
}

// findCreated searches for the hook of a Create that failed but may have taken effect.
func findCreated(ctx context.Context, hooks Registrations, uri string, failure error) (*prepaid.Hook, error) {
	switch prepaid.OutcomeOf(failure) {
	case prepaid.OutcomeRejected, prepaid.OutcomeNotProcessed:
		return nil, failure
	case prepaid.OutcomeUnknown, prepaid.OutcomeApplied:
	}
	var found *prepaid.Hook
	err := look(ctx, failure, func() (seen bool, err error) {
		found, err = findHook(ctx, hooks, uri)
		return found != nil, err
	})
	return found, err
}

// update changes a hook, and reads it back if the outcome is unknown.
func update(ctx context.Context, hooks Registrations, id prepaid.HookID, change prepaid.UpdateHookParams, want prepaid.CreateHookParams) error {
	failure := hooks.Update(ctx, id, change)
	if prepaid.OutcomeOf(failure) != prepaid.OutcomeUnknown {
		return failure
	}
	return look(ctx, failure, func() (seen bool, err error) {
		hook, err := hooks.Get(ctx, id)
		if err != nil {
			return false, err
		}
		_, differs := difference(hook, want)
		return !differs, nil
	})
}

// look calls seen up to three times: at once, after 1 s and after 3 s. It returns failure if seen never returns true.
func look(ctx context.Context, failure error, seen func() (bool, error)) error {
	for _, wait := range [...]time.Duration{0, time.Second, 2 * time.Second} {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return failure
		}
		switch ok, err := seen(); {
		case err != nil:
			return errors.Join(failure, err)
		case ok:
			return nil
		}
	}
	return failure
}

// normal returns an address in the form in which addresses are compared.
func normal(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.TrimSuffix(strings.ToLower(u.Host), ":443")
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// difference returns the fields of want in which hook differs.
func difference(hook *prepaid.Hook, want prepaid.CreateHookParams) (change prepaid.UpdateHookParams, differs bool) {
	if !slices.Equal(companies(hook.Scope), companies(want.Scope)) {
		change.Scope, differs = want.Scope, true
	}
	if hook.FilterSpec != want.FilterSpec {
		change.FilterSpec, differs = want.FilterSpec, true
	}
	if hook.Enabled != want.Enabled {
		change.Enabled, differs = new(want.Enabled), true
	}
	if hook.ReliabilityMode != want.ReliabilityMode {
		change.ReliabilityMode, differs = want.ReliabilityMode, true
	}
	if hook.HMACKeyID != want.HMACKeyID {
		change.HMACKeyID, change.HMACKeySecret, differs = want.HMACKeyID, want.HMACKeySecret, true
	}
	return change, differs
}

// companies sorts a scope and removes duplicates.
func companies(scope []prepaid.CompanyID) []prepaid.CompanyID {
	return slices.Compact(slices.Sorted(slices.Values(scope)))
}
