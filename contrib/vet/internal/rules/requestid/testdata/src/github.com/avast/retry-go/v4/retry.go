// Package retry is what the tests use of it.
package retry

type Option func()

func Attempts(uint) Option                                      { return nil }
func Do(func() error, ...Option) error                          { return nil }
func DoWithData[T any](func() (T, error), ...Option) (T, error) { var none T; return none, nil }
func Unrecoverable(err error) error                             { return err }
