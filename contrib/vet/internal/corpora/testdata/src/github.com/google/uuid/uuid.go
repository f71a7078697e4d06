// Package uuid has the part of it that package shop uses.
package uuid

func NewString() string { return "" }
