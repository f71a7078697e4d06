// Package faults proves the client's behaviour and reports when something goes wrong: no request is sent again that may have
// moved money, an unknown outcome stays unknown, and nothing that proves nothing is read as a refusal or as done.
//
// The faults come from raw listeners, since net/http/httptest hides those that matter, and from scripted transports where
// a test needs a clock of its own. The fuzz targets give the client any bytes in place of a response.
package faults
