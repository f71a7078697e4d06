//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package statefile

import "os"

// lockFile does nothing: there is no flock here.
func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) error { return nil }
