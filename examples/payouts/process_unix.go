//go:build unix

package main

import (
	"os"
	"syscall"
)

func pauseProcess(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func continueProcess(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
