//go:build unix

package hostile

import (
	"os/exec"
	"syscall"
)

const canFreeze = true

// ownGroup gives a command its own process group, so that the command's children end with the command.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func killGroup(cmd *exec.Cmd) error   { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
func freezeGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP) }
func thawGroup(cmd *exec.Cmd) error   { return syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT) }
