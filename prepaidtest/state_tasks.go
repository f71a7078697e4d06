package prepaidtest

import "time"

// jobKind says what there is to do later.
type jobKind string

const (
	jobClear        jobKind = "clear"
	jobReverseClear jobKind = "reverse_clear"
	jobSend         jobKind = "send" // a message that is sent again or was held back
	jobAlert        jobKind = "alert"
)

// job is work for later. It is data, so that it can be saved and goes on after a restart.
type job struct {
	server  *Server
	kind    jobKind
	input   *simulated // of a clear or reverse_clear
	hook    *hook      // of a send or alert
	message *message   // of a send
}

// Do does a job that has become due.
func (j *job) Do(due time.Time) {
	s := j.server
	s.mu.Lock()
	defer s.mu.Unlock()
	switch j.kind {
	case jobClear:
		s.clear(s.accounts[j.input.account], j.input, due)
	case jobReverseClear:
		s.reverseClear(s.accounts[j.input.account], j.input, due)
	case jobSend:
		s.enqueue(j.hook, j.message)
	case jobAlert:
		s.alert(j.hook, due)
	}
}
