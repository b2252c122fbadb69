package cli_test

import (
	"testing"

	"dormouse/internal/cli"
)

func TestCountNamesOneThingInTheSingular(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 keys", 1: "1 key", 2: "2 keys", 1000: "1000 keys"} {
		if got := cli.Count(n, "key"); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
	}
}
