package node

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster/gossip"
)

// A node says so if another node has another timing, and is silent about one that does not tell.
func TestANodeWarnsOfAnotherTiming(t *testing.T) {
	for timing, warns := range map[string]bool{"lan": false, "wan": true, "": false} {
		var out bytes.Buffer
		checkTiming(hclog.New(&hclog.LoggerOptions{Output: &out}), "lan", gossip.Seen{Name: "n2", Meta: gossip.Meta{Timing: timing}})
		if got := strings.Contains(out.String(), "other=n2") && strings.Contains(out.String(), "cluster.timing"); got != warns {
			t.Errorf("timing %q: it warned %t: %s", timing, got, &out)
		}
	}
}

// A key that others may read is refused, as that of the cluster is.
func TestAGossipKeyIsReadableByItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gossip.key")
	if err := os.WriteFile(path, []byte("MDEyMzQ1Njc4OWFiY2RlZg==\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := gossipKey(path); err != nil || string(key) != "0123456789abcdef" {
		t.Errorf("the key is %q: %v", key, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := gossipKey(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that all may read: %v", err)
	}
}
