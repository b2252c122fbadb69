package tail

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The last lines are kept whole, within the bound, and everything is written through.
func TestTheEndIsKept(t *testing.T) {
	var through bytes.Buffer
	w := New(&through, 100)
	var all strings.Builder
	for i := range 200 {
		line := fmt.Sprintf("line %d\n", i)
		all.WriteString(line)
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
		kept := string(w.Bytes())
		if len(kept) > 100 || !strings.HasSuffix(all.String(), kept) || !strings.HasPrefix(kept, "line ") || all.Len() > 100 && len(kept) < 90 {
			t.Fatalf("after line %d it keeps %q", i, kept)
		}
	}
	if through.String() != all.String() {
		t.Error("not everything was written through")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestAFailedWriteIsKept(t *testing.T) {
	w := New(failing{}, 10)
	if _, err := w.Write([]byte("x\n")); err == nil {
		t.Error("the error is lost")
	}
	if string(w.Bytes()) != "x\n" {
		t.Errorf("%q", w.Bytes())
	}
}
