//go:build unix && !linux

package hostile

import "syscall"

// endWithParent does nothing here: a worker function ends with its standard input.
func endWithParent(*syscall.SysProcAttr) {}
