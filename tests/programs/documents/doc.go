// Package docs proves that the documents are correct: their code compiles, the names in backquotes exist, the links
// have targets, and each method and function of the reference page has an example that tests execute.
package docs
