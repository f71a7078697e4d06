//go:build unix

package prepaidredis

import (
	"syscall"

	"github.com/stretchr/testify/require"
)

// freeze stops the server process until thaw.
func (s *server) freeze() { require.NoError(s.t, s.process.Process.Signal(syscall.SIGSTOP)) }

func (s *server) thaw() { require.NoError(s.t, s.process.Process.Signal(syscall.SIGCONT)) }
