// Package tree reads the repository for tests in any folder of it: the table of operations and the client's source.
package tree
