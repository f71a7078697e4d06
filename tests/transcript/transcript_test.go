package transcript

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSessionIsWhatATerminalShows(t *testing.T) {
	t.Setenv("PREPAID_BASE_URL", "of whoever runs the tests")
	require.Equal(t, "$ name='it is \"x y\"'\n$ echo \"$name\" \\\n  \"$PREPAID_VENDOR ${PREPAID_BASE_URL-}\"; echo problem >&2\nit is \"x y\" word \nproblem\n",
		Session(t, []string{"PREPAID_VENDOR=word"}, `name='it is "x y"'`, "echo \"$name\" \\\n  \"$PREPAID_VENDOR ${PREPAID_BASE_URL-}\"; echo problem >&2"))
}

// The parts that a reader can rely on stay: amounts, counts, commands.
func TestStableTakesAwayWhatVariesOnly(t *testing.T) {
	t.Parallel()
	for one, other := range map[string]string{
		"request ID 20261123-7064-8974-b409-e019a8f4a8a1": "request ID 20270101-7064-88c2-aa2d-135438d4797a",
		"EA58791761339995 pre_active":                     "EA85415009834640 pre_active",
		"http://127.0.0.1:41234/3.0/":                     "http://127.0.0.1:8480/3.0/",
		"23 Nov 01:15, 2026-11-23 01:15:59":               "4 Jan 22:00, 2027-01-04 22:00:01",
		"<1 ms, in 28 s, clock skew -1s":                  "12 ms, in 3 s, clock skew 0s",
	} {
		require.Equal(t, Stable(one), Stable(other))
	}
	const kept = "250.00 100000002, 2 movements, token valid for 1h0m0s, -pause 0s, commit-after 2s, 502"
	require.Equal(t, kept, Stable(kept))
}

func TestPictureCarriesItsText(t *testing.T) {
	t.Parallel()
	var plain bytes.Buffer
	require.NoError(t, png.Encode(&plain, image.NewGray(image.Rect(0, 0, 3, 2))))
	picture := withText(plain.Bytes(), "−30.00 <1 ms")
	require.Equal(t, "−30.00 <1 ms", textOf(t, picture))
	read, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 3, 2), read.Bounds())
}
