// Package hostile tests package hostile of the core, and the command prepaid-hostile, with workers in processes of their own: correct
// workers pay each order once, and each bug of a worker is found.
//
// The Go command does not know which files of the core the tests read: run them with -count=1.
package hostile
