package prepaidtest

import "io"

// WithState begins from a state that Save wrote, read once at start; Start fails when it cannot be used, and no error
// quotes it. The clock continues from where it was, a running one as if it had run all the time, so that work that has
// become due meanwhile is done at once; StartAt has no effect, and neither has RandomSeed when the state has a seeded
// source, which continues. All other options are those given now.
//
// Functions cannot be saved: AddReport must be called again, and until then the saved runs of such a template fail
// with 500, while those of AddReportCSV and the built-in template respond as before. A WithFilter that a saved hook
// uses must be given again, or Start fails. By default a server begins with company 42 and nothing else.
func WithState(r io.Reader) Option { return func(s *settings) { s.state = r } }

// WithStateFile begins from the state in a file and keeps the file up to date: it is written within a second or so
// after a change and on Close, always as a whole, with mode 0600, and not when nothing has changed. See Save for the
// secrets in it and WithState for how a server continues. When the file does not exist or is empty, the server begins
// from WithState or anew and writes it. A file that cannot be read or used, or that another server uses, makes Start
// fail and is left as it is. Next to it there are a lock file, path with ".lock", and while it writes a ".tmp". The
// lock needs flock and is not there on Windows. When writing fails the log says so once, WithLogger's or standard
// error, it is tried again, and Close returns an error when the file is not up to date. By default nothing is kept.
//
// Each write costs time and memory with the size of the whole state. After one it rests at least ten times as long
// as it took, so that with a large state more than a second of changes is lost when the process is killed.
func WithStateFile(path string) Option { return func(s *settings) { s.stateFile = path } }
