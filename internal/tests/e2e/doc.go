// Package e2e proves that the client and the emulator follow the reference in the same way. They share only the types of IDs. Tests call
// each operation of the emulator, with and without faults, and check the effect in the emulator's books.
package e2e
