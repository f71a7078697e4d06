// Package faults tests the client's behaviour and its reports under faults: no request that may have moved money is sent
// again, an unknown outcome stays unknown, and a response without proof is never read as a refusal or as a success.
//
// The faults come from raw listeners, since net/http/httptest hides the faults that matter. Tests in which something waits use
// virtual time: a synctest bubble with a scripted transport, with raw pipes or with the emulator in memory. The fuzz
// targets give the client random bytes in place of a response.
package faults
