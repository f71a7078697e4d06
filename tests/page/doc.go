// Package page tests the page of cmd/prepaid-emulator in a browser, and the transcripts and pictures of docs/tour.md.
package page
