// Command wiregen generates wire_gen.go: functions that read and write the client's types without reflection, from the tags of
// their fields. The types are those that the package lists in slices of wireReadable and wireWritable, and the structs in them.
//
//	go run ./internal/wiregen       print the file
//	go run ./internal/wiregen -w    write it, as go generate does
//
// It refuses types that it does not know: then give the field a type with a readWire or writeWire method, or the generator a
// rule.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	write := flag.Bool("w", false, "write "+output+" instead of printing it")
	flag.Parse()
	if err := run(".", *write, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wiregen:", err)
		os.Exit(1)
	}
}

func run(directory string, write bool, out io.Writer) error {
	p, err := load(directory)
	if err != nil {
		return err
	}
	source, err := p.generate()
	if err != nil {
		return err
	}
	if write {
		return p.save(source)
	}
	_, err = out.Write(source)
	return err
}
