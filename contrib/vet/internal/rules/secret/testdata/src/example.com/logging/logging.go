// Package logging is a wrapper of a logger that does not import the SDK.
package logging

import "log"

func Infof(format string, args ...any) { log.Printf(format, args...) }
