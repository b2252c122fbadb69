package cluster_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster"
	"dormouse/cluster/transport"
)

// dials counts what a node dials.
type dials struct {
	transport.Network
	to    string
	count atomic.Int64
}

func (d *dials) Dial(ctx context.Context, addr string) (net.Conn, error) {
	if addr == d.to {
		d.count.Add(1)
	}
	return d.Network.Dial(ctx, addr)
}

// lines counts the lines of a log that say text.
type lines struct {
	mu    sync.Mutex
	text  string
	count int
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count += bytes.Count(line, []byte(l.text))
	return len(line), nil
}

// A wiped node that has not joined yet refuses every connection for raft, and
// two voters have reason to make some all the time.
func TestANodeThatRefusesIsDialedSeldomAndFoundAtOnceOnceItJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var from []*dials
		l.tweak = func(o *cluster.Options) {
			d := &dials{Network: o.Network, to: "n3:raft"}
			if o.NodeID != "n3" {
				from = append(from, d)
			}
			o.Network = d
		}
		l.found("n1", "n2", "n3")
		wiped := l.nodes["n3"]
		wiped.crash()
		wiped.wipe()
		said := &lines{text: "refused a connection"}
		quiet := func(o *cluster.Options) { o.Logger = hclog.New(&hclog.LoggerOptions{Output: said}) }
		if err := wiped.start(quiet); err != nil { // it knows no other node
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // the first pauses are short, and who led may have to be found
		before := from[0].count.Load() + from[1].count.Load()
		time.Sleep(time.Minute)
		raft := from[0].count.Load() + from[1].count.Load() - before
		looks := int64(time.Minute / (500 * time.Millisecond)) // the leader's own, for peers
		if most := looks + 2*int64(time.Minute/(2*time.Second)) + 4; raft > most {
			t.Errorf("%d dials in a minute, at most %d are due", raft, most)
		}
		if said.count == 0 || said.count > 2*(2*6+1) {
			t.Errorf("%d lines of being refused in two minutes", said.count)
		}
		wiped.stop()
		if err := wiped.start(joining("n1")); err != nil {
			t.Fatal(err)
		}
		l.until("it belongs", func() bool { return wiped.group.ClusterID() != "" })
		joined := time.Now()
		l.until("it follows", func() bool { return wiped.group.LocalStatus().Leader != "" })
		if took := time.Since(joined); took > time.Second {
			t.Errorf("it was found %v after it had joined", took)
		}
	})
}
