//go:build !unix

package main

import (
	"errors"
	"os"
)

func pauseProcess(*os.Process) error { return errors.ErrUnsupported }

func continueProcess(*os.Process) error { return errors.ErrUnsupported }
