package transport

import (
	"bytes"
	"testing"
)

func FuzzHandshake(f *testing.F) {
	full := hello{kind: kindRaft, cluster: "cluster", node: "node", incarnation: "incarnation", process: "process", addr: "node:7602"}
	refusal := hello{kind: verdictRefused, node: "n", text: "refused"}
	f.Add(full.encode())
	f.Add(refusal.encode())
	f.Add([]byte("DRMS\x02P\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := readHello(bytes.NewReader(b))
		if again := h.encode(); err == nil && !bytes.HasPrefix(b, again) {
			t.Errorf("%q reads as %q", b, again)
		}
	})
}
