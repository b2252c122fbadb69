package node

import (
	"bytes"
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
