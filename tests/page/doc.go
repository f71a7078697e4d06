// Package page tests in a browser: the page of cmd/prepaid-emulator, and the code of docs/pin.md.
package page
