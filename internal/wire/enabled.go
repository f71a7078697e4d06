//go:build !prepaid_nofastpath

package wire

const enabled = true
