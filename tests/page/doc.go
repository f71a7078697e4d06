// Package page tests the page of cmd/prepaid-emulator in a browser.
package page
