// Program empty does nothing. It is what every Go program costs.
package main

import "os"

func main() {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.Write(status)
}
