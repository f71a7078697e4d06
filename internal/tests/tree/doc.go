// Package tree reads parts of the repository for tests in any folder: the table of operations and the client's source.
package tree
