// Command release releases all modules of the repository, the core and the modules below contrib/, with the same version.
//
//	release                                   a dry run of the next version, even if the tree is not clean
//	release 0.2.0                             a dry run of version 0.2.0
//	release -retract 0.1.0 -reason why 0.1.1  a dry run of version 0.1.1, which retracts 0.1.0
//	release -publish 0.2.0                    the dry run, then every check, then the commit and the signed tags in this checkout
//	release -prove 0.2.0                      only the proof, for tags that exist
//
// Run it with go -C tools run ./release. It works in a clone of the last commit. The proof uses only the tags of the clone: in an
// empty module with an empty module cache, "go get" gets each module, each public package compiles, each program installs, the
// README's first program works with the emulator, and the analyzer finds a mistake in a changed copy. Only -publish changes this
// checkout, after the proof. The command never pushes: the last lines of its output are the commands for that.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/cardprograms/prepaid/tools/internal/checkout"
)

// release is one run of the command.
type release struct {
	module, version   string
	retracted, reason string // a version, if one is retracted
	publishes         bool
	next              bool // a dry run of the next version
	work              string
	here, there       shell    // in this checkout and in the clone
	order             []string // the directories of the modules to tag, each after the modules that it requires
}

func main() {
	checkout.Enter()
	os.Exit(run())
}

// run returns the exit code.
func run() (code int) {
	r := &release{next: len(os.Args) == 1}
	flag.BoolVar(&r.publishes, "publish", false, "after the dry run and every check, add the commit and the signed tags to this checkout")
	proves := flag.Bool("prove", false, "only prove tags that exist")
	flag.StringVar(&r.retracted, "retract", "", "the `version` to retract")
	flag.StringVar(&r.reason, "reason", "", "the reason for the retraction")
	flag.Parse()
	r.version = flag.Arg(0)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Fprintln(os.Stderr, "REFUSED:", problem.(refusal)) // any other panic is a bug and continues
			code = 1
		}
	}()
	refuse(flag.NArg() > 1, "one version, not %s", strings.Join(flag.Args(), " and "))
	refuse((r.retracted == "") != (r.reason == "") || strings.Contains(r.reason, "\n"), "name the version to retract, and the reason in one line")
	terminal := exec.CommandContext(ctx, "tty")
	terminal.Stdin = os.Stdin
	if name, err := terminal.Output(); err == nil && os.Getenv("GPG_TTY") == "" { // gpg asks for a passphrase there
		_ = os.Setenv("GPG_TTY", strings.TrimSpace(string(name)))
	}
	var err error
	r.work, err = os.MkdirTemp("", "prepaid-release-")
	refuse(err != nil, "%v", err)
	defer os.RemoveAll(r.work) //nolint:errcheck // only litter
	r.clone(ctx)
	if !*proves {
		r.checkState(ctx)
		r.commit(ctx)
	}
	r.sort(ctx)
	r.prove(ctx)
	if *proves {
		return 0
	}
	if r.publishes {
		r.checkAll(ctx)
		r.publish(ctx)
	}
	r.summarise()
	return 0
}

// refusal is the reason not to release.
type refusal string

// refuse ends the steps of a release if the condition holds.
func refuse(condition bool, format string, arguments ...any) {
	if condition {
		panic(refusal(fmt.Sprintf(format, arguments...))) //nolint:forbidigo // run recovers it
	}
}

// shell runs commands in a directory, with an environment in addition to this program's.
type shell struct {
	directory   string
	environment []string
}

func (s shell) command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, arguments...) //nolint:gosec // this program's own commands
	command.Dir, command.Env = s.directory, append(os.Environ(), s.environment...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	return command
}

// try returns the standard output of a command, and an error with everything that it printed.
func (s shell) try(ctx context.Context, name string, arguments ...string) (string, error) {
	var printed, all strings.Builder
	command := s.command(ctx, name, arguments...)
	command.Stdout, command.Stderr = io.MultiWriter(&printed, &all), &all
	if err := command.Run(); err != nil {
		return printed.String(), fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, all.String())
	}
	return strings.TrimRight(printed.String(), "\n"), nil
}

// run is try for a command without which there is no release.
func (s shell) run(ctx context.Context, name string, arguments ...string) string {
	printed, err := s.try(ctx, name, arguments...)
	refuse(err != nil, "%v", err)
	return printed
}

// checkAll runs, on the tagged commit, all checks that must pass before a release.
func (r *release) checkAll(ctx context.Context) {
	var printed strings.Builder
	checks := r.there.command(ctx, "bash", ".ci/run", "release")
	checks.Stdout, checks.Stderr = io.MultiWriter(os.Stdout, &printed), os.Stderr
	err := checks.Run()
	refuse(err != nil, "the checks: %v", err)
	refuse(strings.Contains(printed.String(), "BUT SKIPPED"), "a step was skipped: release where nothing is")
}

// publish adds the commit and its tags to this checkout. The tags come first: if a later step fails, they are removed again.
// Signals take effect only between two git commands: otherwise git could add a tag after a signal.
func (r *release) publish(ctx context.Context) {
	commit, published := r.there.run(ctx, "git", "rev-parse", "HEAD"), false
	git := context.WithoutCancel(ctx)
	r.here.run(git, "git", "fetch", "-q", "--no-tags", r.there.directory, "main")
	defer func() {
		if made := r.here.run(git, "git", "tag", "--points-at", commit); made != "" && !published {
			fmt.Fprintln(os.Stdout, r.here.run(git, "git", append([]string{"tag", "-d"}, strings.Fields(made)...)...))
		}
	}()
	for _, directory := range r.order {
		r.here.run(git, "git", "tag", "-s", "-m", "Version "+r.version, tagOf(directory, r.version), "FETCH_HEAD")
		refuse(ctx.Err() != nil, "interrupted")
	}
	r.here.run(git, "git", "merge", "-q", "--ff-only", "FETCH_HEAD")
	published = true
}

func (r *release) summarise() {
	var tags, modules []string
	for _, directory := range r.order {
		tags = append(tags, tagOf(directory, r.version))
		modules = append(modules, r.pathOf(directory)+"@v"+r.version)
	}
	state := "Dry run: nothing is tagged. -publish tags, and these commands push:"
	if r.publishes {
		state = "Tagged. To push:"
	}
	fmt.Fprintf(os.Stdout, "\nRelease note:\n\n%s\n%s\n\n  git push --atomic origin main %s\n", r.section(), state, strings.Join(tags, " "))
	fmt.Fprintf(os.Stdout, "  go list -m %s # at once: public proxies fetch what is asked for\n", strings.Join(modules, " "))
	fmt.Fprintf(os.Stdout, "  (cd cmd/prepaid-emulator/dist && go run . -version v%s -out DIRECTORY) # the files of the release page\n", r.version)
}
