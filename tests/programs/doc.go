// Package programs proves that programs and documents are correct. The programs in examples/ print their expected output. The code of the guides compiles and runs, the names in backquotes exist, the links have targets, and each
// method and function of the reference page has an example that tests execute.
//
// The Go command does not know which programs and documents the tests read, since they are outside this module: run the tests
// with -count=1.
package programs
