// Package retry is a stub.
package retry

type CallArgs struct {
	Func     func() error
	Attempts int
}

func Call(args CallArgs) error { return nil }
