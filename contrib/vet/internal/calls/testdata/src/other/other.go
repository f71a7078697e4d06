// Package other uses another SDK.
package other

import "unused"

func charge() error { return unused.Charge() } // want "Charge"
