package main

import (
	"fmt"
	"strings"
	"testing"
)

// The example is a real node: it says the same each time, and ends by itself.
func TestTheExampleSaysWhatTheDocumentsSay(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), func(line string, args ...any) { fmt.Fprintf(&out, line+"\n", args...) }); err != nil {
		t.Fatal(err)
	}
	const want = `a node runs in this process
ada at rev 2: You begin with "tea".
grace at rev 2: You begin with "coffee".
ada sleeps: nothing of her is in memory
ada at rev 4: You asked tea before, and "milk" now.
ada at rev 4: You asked tea before, and "milk" now.
  0 {"role":"user","content":"tea"}
  1 {"role":"assistant","content":"You begin with \"tea\"."}
  2 {"role":"user","content":"milk"}
  3 {"role":"assistant","content":"You asked tea before, and \"milk\" now."}
`
	if got := out.String(); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}
