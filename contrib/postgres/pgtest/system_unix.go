//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

const freeze, thaw = syscall.SIGSTOP, syscall.SIGCONT

// session returns attributes that shield a process from the signals of the program's terminal.
func session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// attributes returns the attributes of Postgres's processes, and the owner of their files.
func attributes() (attributes *syscall.SysProcAttr, uid, gid int, err error) {
	attributes, uid, gid = session(), os.Getuid(), os.Getgid()
	if uid != 0 {
		return attributes, uid, gid, nil
	}
	nobody, err := user.Lookup("nobody")
	if err == nil {
		uid, err = strconv.Atoi(nobody.Uid)
	}
	if err == nil {
		gid, err = strconv.Atoi(nobody.Gid)
	}
	attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)} //nolint:gosec // they are 32 bits
	return attributes, uid, gid, err
}

// signalAll signals the server and its children. It freezes the server first: a running server could start more children.
func (s *Server) signalAll(by syscall.Signal) error {
	if s.process == nil {
		return errors.New("pgtest: the server is not running")
	}
	if by == freeze {
		if err := s.signal(by); err != nil {
			return err
		}
	}
	pids, err := children(s.process.Pid)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, by); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return s.signal(by)
}

func children(pid int) ([]int, error) {
	output, err := exec.Command("ps", "-A", "-o", "ppid=", "-o", "pid=").Output() //nolint:noctx // ps waits for nothing
	if err != nil {
		return nil, fmt.Errorf("pgtest: ps: %w", err)
	}
	var pids []int
	for line := range strings.Lines(string(output)) {
		var parent, child int
		if _, err := fmt.Sscan(line, &parent, &child); err == nil && parent == pid {
			pids = append(pids, child)
		}
	}
	return pids, nil
}
