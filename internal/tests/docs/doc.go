// Package docs proves that the documents are correct: their code is compiled, the names in code type exist, the links
// have targets, and each method and function of the reference page has an example that runs.
package docs
