//go:build !unix

package pgtest

import "syscall"

const freeze, thaw = syscall.SIGKILL, syscall.SIGKILL

func session() *syscall.SysProcAttr { return nil }

func attributes() (*syscall.SysProcAttr, int, int, error) { return nil, 0, 0, ErrNotInstalled }

func (s *Server) signalAll(syscall.Signal) error { return ErrNotInstalled }
