//go:build unix

package prepaidredis

import (
	"syscall"

	"github.com/stretchr/testify/require"
)

// freeze has the server stop where it is, until thaw.
func (s *server) freeze() { require.NoError(s.t, s.process.Process.Signal(syscall.SIGSTOP)) }

func (s *server) thaw() { require.NoError(s.t, s.process.Process.Signal(syscall.SIGCONT)) }
