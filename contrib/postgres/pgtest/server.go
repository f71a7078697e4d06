package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	superuser = "postgres"
	quit      = syscall.SIGQUIT // ends at once; the next start recovers
	shutDown  = syscall.SIGINT  // rolls transactions back and writes everything
	kill      = syscall.SIGKILL
)

// Server is a running Postgres. Its methods are safe for concurrent use.
type Server struct {
	options   Options
	binaries  string
	dir       string // has all files and the socket
	owner     *syscall.SysProcAttr
	databases atomic.Int64

	mu       sync.Mutex
	guard    *exec.Cmd
	lifeline io.WriteCloser // the guard reads process IDs until lifeline is closed
	process  *os.Process    // nil after Kill and Stop
	exited   chan struct{}  // closed when process has ended
}

// Run starts a server for a program. The program should call [Server.Stop]. If the program ends, so does the server.
//
// Errors: [ErrNotInstalled]; those of ctx (it bounds only the start); those of the system, with the server's log.
func Run(ctx context.Context, options Options) (*Server, error) {
	binaries, err := find(options.Binaries)
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	s := &Server{options: options, binaries: binaries}
	if err := s.create(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("pgtest: %w", err), s.Stop())
	}
	return s, nil
}

// create makes the directory and the database files in it, and starts the server.
func (s *Server) create(ctx context.Context) error {
	owner, uid, gid, err := attributes()
	if err != nil {
		return err
	}
	s.owner = owner
	if s.dir, err = os.MkdirTemp("/tmp", "pgtest-"); err != nil { // TMPDIR may be closed to others, or too long for a socket
		return err
	}
	if err := s.watch(); err != nil {
		return err
	}
	if err := os.Chown(s.dir, uid, gid); err != nil {
		return err
	}
	init := exec.CommandContext(ctx, filepath.Join(s.binaries, "initdb"), "--pgdata", s.data(), "--username", superuser,
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	init.Dir, init.SysProcAttr = s.dir, s.owner
	if output, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, output)
	}
	return s.start(ctx, false)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) logPath() string { return filepath.Join(s.dir, "log") }

// guardScript waits until the program closes the script's standard input or ends. The script then ends the Postgres
// whose process ID it read last, even a frozen one, and removes the directory. A removed postmaster.pid shows that
// Postgres has ended; its process ID stays in use for a while.
const guardScript = `
trap '' HUP INT TERM
pid=
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
	kill -QUIT "$pid"
	ps -A -o ppid= -o pid= | while read -r parent child; do
		[ "$parent" = "$pid" ] && kill -CONT "$child"
	done
	kill -CONT "$pid"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ -e "$1/data/postmaster.pid" ] || break
		sleep 0.$i
	done
	kill -KILL "$pid"
fi
rm -rf -- "$1"
`

func (s *Server) watch() error {
	s.guard = exec.Command("/bin/sh", "-c", guardScript, "pgtest", s.dir) //nolint:noctx // it ends with the program, not with a context
	s.guard.SysProcAttr = session()
	lifeline, err := s.guard.StdinPipe()
	if err == nil {
		err = s.guard.Start()
	}
	if err != nil {
		s.guard = nil
		return errors.Join(err, os.RemoveAll(s.dir))
	}
	s.lifeline = lifeline
	return nil
}

// Stop ends the server and removes its files. A second Stop has no effect.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guard == nil {
		return nil
	}
	err := s.end(quit)
	err = errors.Join(err, s.lifeline.Close(), s.guard.Wait())
	s.guard = nil
	return err
}

// end ends the process with a signal that Postgres handles, and thaws a frozen server.
func (s *Server) end(by os.Signal) error {
	if s.process == nil {
		return nil
	}
	err := errors.Join(s.signal(by), s.signalAll(thaw))
	select {
	case <-s.exited:
	case <-time.After(startLimit):
		err = errors.Join(err, s.signalAll(kill))
	}
	return errors.Join(err, s.ended())
}

// ended waits for the end of the process, whose ID the guard then forgets.
func (s *Server) ended() error {
	<-s.exited
	s.process = nil
	_, err := io.WriteString(s.lifeline, "\n")
	return err
}

// signal signals the server itself. It is no error if the server has already ended.
func (s *Server) signal(by os.Signal) error {
	if err := s.process.Signal(by); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Kill ends the server and each of its processes with SIGKILL, like a crash of the machine, except that data which the
// system has accepted for writing is not lost.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	return errors.Join(s.signalAll(freeze), s.signalAll(kill), s.ended()) // a frozen server starts no more processes
}

// Freeze stops each process of the server. Until [Server.Thaw], connections stay open and do not respond.
func (s *Server) Freeze() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signalAll(freeze)
}

// Thaw continues a frozen server.
func (s *Server) Thaw() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signalAll(thaw)
}

// Restart shuts the server down properly, unless it was killed, and starts it with the same files and the same address. It
// returns when connections are accepted. After [Server.Kill] it repeats the start until the system has freed resources of the
// killed processes, and Postgres has recovered. ctx bounds the wait.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guard == nil {
		return errors.New("pgtest: the server was stopped")
	}
	if err := s.end(shutDown); err != nil {
		return err
	}
	return s.start(ctx, true)
}

// start returns when connections are accepted. If again is set, it tries again whenever the process ends before that.
func (s *Server) start(ctx context.Context, again bool) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		if err := s.launch(); err != nil {
			return err
		}
		if s.ready(ctx) {
			return nil
		}
		if !again || ctx.Err() != nil {
			return errors.Join(errors.New("pgtest: the server does not start\n"+s.Log()), ctx.Err(), s.end(quit))
		}
		s.process = nil // the process has ended
	}
}

func (s *Server) launch() error {
	log, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()                                                                                    // the server has a copy
	server := exec.Command(filepath.Join(s.binaries, "postgres"), "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=") //nolint:noctx // it outlives the context of its start
	for name, value := range s.options.Settings {
		server.Args = append(server.Args, "-c", name+"="+value)
	}
	server.Dir, server.SysProcAttr, server.Stdout, server.Stderr = s.dir, s.owner, log, log
	if err := server.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	s.process, s.exited = server.Process, exited
	go func() {
		_ = server.Wait() // the log has the reason
		close(exited)
	}()
	_, err = io.WriteString(s.lifeline, strconv.Itoa(server.Process.Pid)+"\n")
	return err
}

// ready waits until the server accepts a connection, and returns false if server or ctx ended first.
func (s *Server) ready(ctx context.Context) bool {
	for s.exec(ctx, "") != nil {
		select {
		case <-s.exited:
			return false
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

func (s *Server) exec(ctx context.Context, statement string) error {
	connection, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	_, err = connection.Exec(ctx, statement)
	return errors.Join(err, connection.Close(ctx))
}

// places are where packages of Debian, Red Hat and Homebrew put the programs of each version.
var places = [...]string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/opt/postgresql@*/bin", "/opt/homebrew/opt/postgresql@*/bin",
}

// find returns the directory of initdb and postgres: dir, or if dir is empty, the one in PATH, or else that of the newest version.
func find(dir string) (string, error) {
	found := []string{dir}
	if dir == "" {
		found = nil
		if program, err := exec.LookPath("initdb"); err == nil {
			program, _ = filepath.EvalSymlinks(program) // initdb looks for postgres next to itself
			found = append(found, filepath.Dir(program))
		}
		for _, place := range places {
			dirs, _ := filepath.Glob(place) // the patterns are valid
			slices.Reverse(dirs)
			found = append(found, dirs...)
		}
	}
	for _, dir := range found {
		_, initdb := os.Stat(filepath.Join(dir, "initdb"))
		if info, err := os.Stat(filepath.Join(dir, "postgres")); initdb == nil && err == nil && !info.IsDir() {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%w: initdb and postgres are neither where Options.Binaries says nor in PATH nor where packages put them", ErrNotInstalled)
}
