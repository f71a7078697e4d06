package prepaidtest

import "io"

// WithState begins from a state that Save wrote, read once at start; if it is invalid, Start fails, with an error that
// does not quote it. A frozen clock continues where it was, a running clock as if it had always run: work that became
// due is done at once. StartAt has no effect, nor RandomSeed if the state has a seeded source, which continues. All
// other options are the present ones.
//
// Functions cannot be saved: call AddReport again, until then saved runs of its template fail with 500 (those of
// AddReportCSV and the built-in template respond as before). If a saved hook uses a WithFilter, set it again, or
// Start fails. By default a server begins with only company 42.
func WithState(r io.Reader) Option { return func(s *settings) { s.state = r } }

// WithStateFile begins from the state in a file and keeps the file up to date: the whole file is written about a
// second after a change and on Close, with mode 0600, and only after changes. See Save for its secrets and WithState
// for how a server continues. If the file does not exist or is empty, the server begins from WithState or anew and
// writes it. If the file cannot be read or used, or another server uses it, Start fails and does not change it. Next
// to it are a lock file, path with ".lock", and during writes a ".tmp". The lock needs flock; Windows has none. A
// failed write is logged once, to WithLogger's or standard error, and tried again; Close returns an error if the file
// is not up to date. By default nothing is kept.
//
// Each write costs time and memory for the whole state. After a write the server waits at least ten times as long
// as it took: with a large state, a killed process loses more than a second of changes.
func WithStateFile(path string) Option { return func(s *settings) { s.stateFile = path } }
