package node_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
)

// A backup that its caller does not read does not use up the stop time of the leader: the servers
// refuse new calls at once, and another node leads by a handover when the leader has stopped.
func TestALeaderWithALongCallHandsOverBeforeItStopsSim(t *testing.T) {
	t.Parallel()
	for over, hold := range map[string]func(*testing.T, *simCluster, string){"HTTP": holdOverHTTP, "gRPC": holdOverGRPC} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log lockedBuffer
				w := newSimCluster(t, 0)
				w.logger = hclog.New(&hclog.LoggerOptions{Output: &log})
				w.found(3)
				fillStore(t, w.leader().Store())
				leader := w.leader()
				term := leader.Group().LocalStatus().Term
				hold(t, w, leader.name)
				time.Sleep(time.Second) // until nothing more of the answer can be sent

				stopped := make(chan struct{})
				go func() { defer close(stopped); w.sleep(leader.name) }()
				time.Sleep(2 * time.Second)
				select {
				case <-stopped:
					t.Fatal("the call whose answer is not read has ended")
				default:
				}
				for _, port := range []string{":http", ":grpc"} {
					if conn, err := w.links.Host("caller").Dial(t.Context(), leader.name+port); err == nil {
						t.Errorf("a stopping node accepts connections on %s", port)
						_ = conn.Close()
					}
				}
				<-stopped
				if strings.Contains(log.String(), "leadership was not handed over") {
					t.Error("the leader did not hand over leadership")
				}
				leads := 0
				for _, r := range w.awake { // without waiting for an election
					if id, _ := r.Group().Leader(); id == r.name && r.Group().LocalStatus().Term == term+1 {
						leads++
					}
				}
				if leads != 1 {
					t.Errorf("when the leader has stopped, %d nodes lead in the next term, want 1", leads)
				}
			})
		})
	}
}

// fillStore stores more than the buffers of a connection hold.
func fillStore(t *testing.T, s agent.Submitter) {
	t.Helper()
	for i := range 12 {
		value := make([]byte, 1<<20)
		_, _ = rand.Read(value) // never fails
		if _, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: fmt.Sprint(i), Bytes: value}}}); err != nil {
			t.Fatal(err)
		}
	}
}

// holdOverHTTP begins a backup over HTTP/2, whose flow control stops the node when the body is not read.
func holdOverHTTP(t *testing.T, w *simCluster, node string) {
	t.Helper()
	host := w.links.Host("browser")
	transport := &http.Transport{
		Protocols: &http.Protocols{}, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return host.Dial(ctx, node+":http") },
	}
	transport.Protocols.SetUnencryptedHTTP2(true)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+node+"/v1/cluster/backup", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close(); transport.CloseIdleConnections() })
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
}

// holdOverGRPC begins a backup over gRPC, of which only the first bytes are read.
func holdOverGRPC(t *testing.T, w *simCluster, node string) {
	t.Helper()
	c := w.dial(t, true, node)
	begun := &unread{begun: make(chan struct{}), ended: make(chan struct{})}
	var backup sync.WaitGroup
	backup.Go(func() { _ = c.Backup(t.Context(), begun) })
	t.Cleanup(func() { close(begun.ended); backup.Wait() })
	<-begun.begun
}

// unread is a writer that blocks until ended is closed.
type unread struct {
	once         sync.Once
	begun, ended chan struct{}
}

func (u *unread) Write(b []byte) (int, error) {
	u.once.Do(func() { close(u.begun) })
	<-u.ended
	return len(b), nil
}
