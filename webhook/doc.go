// Package webhook receives, verifies and deduplicates the service's messages, on any number of replicas.
//
// [Handler] is an http.Handler. It checks each message with a [Verifier] over the exact bytes, claims its ID in a
// [ClaimStore], and passes it to your function. A message that was already handled is only acknowledged.
// [Drain] catches up on messages that could not be delivered. [Ensure] registers the hook and, with [RotateIn], changes
// its key without refusing a message.
//
// # Delivery
//
// A message is handled at least once. It is handled only once as long as handling ends within [Config].Timeout and the
// ClaimStore remembers its ID. It may be handled again if a process dies after your function returns and before the
// store records that. So your function must tolerate a repeat: compare the message's ID.
//
// # Signature
//
// The service's reference mentions a key (hmac_key_id, hmac_key_secret) but not how messages are signed with it. [HMAC]
// is HMAC-SHA256 with the header, encoding and key form that you set; ask the operator for them. For anything else write
// your own Verifier.
//
// # Privacy
//
// The package does not log. Responses contain only the text of their status, and errors never contain received data.
package webhook
