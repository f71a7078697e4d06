package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const plainProgram = `package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	response, err := http.Get(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	defer response.Body.Close()
	var account struct{ ID string }
	if json.NewDecoder(response.Body).Decode(&account) != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString(account.ID)
}
`

const clientProgram = `package main

import (
	"context"
	"os"

	"github.com/cardprograms/prepaid"
)

func main() {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		os.Exit(1)
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		os.Exit(1)
	}
	account, err := client.Accounts.Get(context.Background(), prepaid.AccountID(os.Args[1]))
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString(account.ExternalAccountID)
}
`

// sizeRows compares two small programs, stripped. They are built in this module, which depends on the client.
func sizeRows(int) ([]row, error) {
	plain, err := builtSize(plainProgram)
	if err != nil {
		return nil, err
	}
	client, err := builtSize(clientProgram)
	if err != nil {
		return nil, err
	}
	r := bounded("size of a small program, stripped", client-plain, 1.82e6, megabytes)
	r.floor, r.ours = megabytes(plain), megabytes(client)
	r.ratio, r.goal = "+"+megabytes(client-plain), "<= +1.82 MB"
	return []row{r.counted()}, nil
}

func builtSize(source string) (float64, error) {
	directory, err := os.MkdirTemp("", "size-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	main, program := filepath.Join(directory, "main.go"), filepath.Join(directory, "program")
	if err := os.WriteFile(main, []byte(source), 0o600); err != nil {
		return 0, err
	}
	build := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, main)
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
}
