// Package tree reads the repository for tests, wherever below it they run: the table of operations and the client's source.
package tree
