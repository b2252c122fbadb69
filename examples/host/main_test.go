package main

import (
	"fmt"
	"strings"
	"testing"
)

// The example runs a real node and a real host, over loopback.
func TestTheExampleSaysWhatTheDocumentsSay(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), "", "", func(line string, args ...any) { fmt.Fprintf(&out, line+"\n", args...) }); err != nil {
		t.Fatal(err)
	}
	const want = `a node runs in this process, and has no handler
a host has joined, and owns 4096 partitions: no other member has its handler
ada on pantry at rev 2: You begin with "tea".
ada on pantry at rev 4: You asked tea before, and "milk" now.
the host has left
`
	if got := out.String(); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}
