//go:build !unix

package pgtest

import "syscall"

const (
	quit     = syscall.SIGQUIT
	shutDown = syscall.SIGINT
	kill     = syscall.SIGKILL
	freeze   = syscall.SIGKILL
	thaw     = syscall.SIGKILL
)

func session() *syscall.SysProcAttr { return nil }

func attributes() (*syscall.SysProcAttr, int, int, error) { return nil, 0, 0, ErrNotInstalled }

func parent() (string, error) { return "", ErrNotInstalled }

func (s *Server) signalAll(syscall.Signal) error { return ErrNotInstalled }
