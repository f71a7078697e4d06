// Package docs proves that the documents are correct: their code is code that is compiled, the names in code type exist,
// the links lead somewhere, and each method and function of the reference page has an example that runs.
package docs
