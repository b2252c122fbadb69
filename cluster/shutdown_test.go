package cluster_test

import (
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster"
)

// slowSnapshots is a store whose snapshots are read a byte a second: as if they were large.
type slowSnapshots struct {
	raft.SnapshotStore
	begun func() // called when a snapshot is read
}

func (s slowSnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, r, err := s.SnapshotStore.Open(id)
	return meta, slowReader{r, s.begun}, err
}

type slowReader struct {
	io.ReadCloser
	begun func()
}

func (r slowReader) Read(b []byte) (int, error) {
	r.begun()
	time.Sleep(time.Second)
	return r.ReadCloser.Read(b[:min(1, len(b))])
}

// Raft waits for the calls that it makes, and for a snapshot that it receives. Both end when a stop closes
// their connections: it does not last as long as a snapshot travels, or as a voter does not answer.
func TestAStopDoesNotWaitForWhatTravels(t *testing.T) {
	for name, test := range map[string]struct {
		silent bool // the other node is cut off, instead of sent a snapshot
		stops  func(leader, late *node) *node
	}{
		"the node that sends a snapshot":    {stops: func(leader, _ *node) *node { return leader }},
		"the node that receives a snapshot": {stops: func(_, late *node) *node { return late }},
		"the leader of a silent voter":      {silent: true, stops: func(leader, _ *node) *node { return leader }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := make(chan struct{})
				read := sync.OnceFunc(func() { close(begun) })
				l := trio(t, func(o *cluster.Options) {
					o.Compaction = cluster.Compaction{SnapshotBytes: 1 << 20, SnapshotEntries: 100, TrailingBytes: 64 << 10, TrailingEntries: 10}
					o.Snapshots = slowSnapshots{o.Snapshots, read}
				})
				leader := l.leader()
				late := l.others(leader)[0]
				l.net.Isolate(late.name, l.names...)
				if !test.silent {
					for i := range 300 {
						if err := leader.put("x", i); err != nil {
							t.Fatal(err)
						}
						time.Sleep(50 * time.Millisecond)
					}
					l.net.HealAll()
					<-begun
				}
				time.Sleep(time.Second) // a part has arrived, or calls wait for an answer
				began := time.Now()
				test.stops(leader, late).stop()
				if took := time.Since(began); took > time.Second {
					t.Errorf("the stop took %v", took)
				}
			})
		})
	}
}
