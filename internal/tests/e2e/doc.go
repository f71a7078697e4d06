// Package e2e proves that the client and the emulator, which share no type but those of IDs, read the reference alike: each operation is run
// against the emulator, with and without faults, and the effect is checked in the emulator's books.
package e2e
