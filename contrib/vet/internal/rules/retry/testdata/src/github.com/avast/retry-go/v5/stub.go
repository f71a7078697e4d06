// Package retry is a stub.
package retry

type (
	RetryableFunc func() error
	Option        func()
	Retrier       struct{}
)

func New(opts ...Option) *Retrier         { return nil }
func (*Retrier) Do(f RetryableFunc) error { return nil }
func Attempts(uint) Option                { return nil }
