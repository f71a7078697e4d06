package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestThrottledRequestsAreCountedAndRepeated(t *testing.T) {
	t.Parallel()
	s := newStage(t, 10)
	s.srv.Inject(transferOperation, prepaidtest.TooManyRequests(0).Times(7))
	code, out, errOut := s.run()
	require.Equal(t, exitPaid, code, out+errOut)
	require.Contains(t, out, "; 20 requests, 7 of them refused with 429\n") // one each for the token, the float account and its history
	s.requirePaidOnce()
}
