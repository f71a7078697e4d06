package main

import (
	"os/exec"
	"syscall"
)

// endWithParent has the system kill a process when the thread that started it ends: one that is frozen cannot read the end
// of its input.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
