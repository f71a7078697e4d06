package main

import "io"

// output keeps the first error of a writer: lost output is a failure. Each example has its own helpers, so that it can be
// copied alone.
type output struct {
	to  io.Writer
	err error
}

// Write writes, until it has failed once.
func (o *output) Write(text []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(text)
	o.err = err
	return n, err
}
