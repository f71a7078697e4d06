// Package retrier is a stub.
package retrier

import "context"

type Retrier struct{}

func New() *Retrier                                                                 { return nil }
func (*Retrier) Run(work func() error) error                                        { return nil }
func (*Retrier) RunCtx(ctx context.Context, work func(context.Context) error) error { return nil }
