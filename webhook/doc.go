// Package webhook receives the service's messages: verified, once, and on any number of replicas.
//
// [Handler] is an http.Handler. It checks each message with a [Verifier] over the exact bytes, claims its id in a
// [ClaimStore], and hands it to your function; a message that was handled before is acknowledged and not handled
// again. [Drain] catches up on what could not be delivered, and [Ensure] registers the hook and, with [RotateIn],
// changes its key without refusing a message.
//
// # How often
//
// A message is handled at least once, and once only as long as handling ends within [Config].Timeout and the
// ClaimStore remembers its id. It may be handled again when a process dies between your function's return and the
// note that it is done, so let your function bear a repeat, by the message's ID.
//
// # Signature
//
// The service's reference tells of a key (hmac_key_id, hmac_key_secret) and not of how messages are signed with it.
// [HMAC] is HMAC-SHA256 with header, encoding and key form as you set them; ask the operator for them. Anything else
// is a Verifier of your own.
//
// # Privacy
//
// Nothing here logs. Answers carry the status' own words, and errors never hold what was received.
package webhook
