package gossip_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster/gossip"
)

// lines is a log that may be written to and read concurrently.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer // guarded by mu
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// A node that was told to join at the gossip port dials it again and again. That
// is one line that says so, and no error of memberlist's for each attempt.
func TestOtherProtocolsOnTheGossipPortAreLoggedOnce(t *testing.T) {
	log := &lines{}
	for range 2 {
		g, err := gossip.New(gossip.Options{
			Name: "n1", Incarnation: "i", BindAddr: "127.0.0.1:0", Keys: testKeys, Meta: gossip.Meta{RaftAddr: "10.0.0.1:7602"},
			Logger: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Info}),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, first := range []string{"DRMS\x03R\x00\x00", "\x16\x03\x01\x02\x00", "GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n", "DRMS"} {
			c, err := net.Dial("tcp", g.Addr())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = c.Write([]byte(first))
			if got, err := io.ReadAll(c); len(got) > 0 || err != nil {
				t.Errorf("%q is answered with %q and %v, want the end of the stream", first, got, err)
			}
			_ = c.Close()
		}
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
		got := log.String()
		if n := strings.Count(got, "join list"); n != 1 || strings.Contains(got, "[ERROR]") || !strings.Contains(got, "10.0.0.1:7602") {
			t.Errorf("the log names the mistake %d times, want once and no error:\n%s", n, got)
		}
		log.mu.Lock()
		log.all.Reset()
		log.mu.Unlock()
	}
}

// Connections without a proof of the key are bounded, and keep no member out.
func TestSilentGossipConnectionsGiveWay(t *testing.T) {
	log, met := &lines{}, make(chan string, 64)
	start := func(name string, seeds ...string) *gossip.Gossip {
		g, err := gossip.New(gossip.Options{
			Name: name, Incarnation: "i", BindAddr: "127.0.0.1:0", Keys: testKeys, Seeds: func() []string { return seeds },
			OnEvent: func(s gossip.Seen) {
				if s.Name != name && s.Status == gossip.Alive {
					met <- name
				}
			},
			Logger: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Info}),
		})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	one := start("n1")
	silent := make([]net.Conn, 65)
	for i := range silent {
		c, err := net.Dial("tcp", one.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() //nolint:errcheck // the node has closed it
		silent[i] = c
	}
	if got, err := io.ReadAll(silent[0]); len(got) > 0 || !strings.Contains(log.String(), "too many are open") {
		t.Errorf("the oldest connection reads %q, %v, and the log has %q", got, err, log)
	}
	two := start("n2", one.Addr())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 2)
	for _, g := range []*gossip.Gossip{one, two} {
		go func() { ended <- g.Run(ctx) }()
	}
	if a, b := <-met, <-met; a == b {
		t.Errorf("%s has met the other one twice", a)
	}
	cancel()
	if err := errors.Join(<-ended, <-ended, two.Close(t.Context()), one.Close(t.Context())); err != nil {
		t.Error(err)
	}
}

// A connection that sends nothing does not keep the node from closing.
func TestASilentGossipConnectionEndsWithTheNode(t *testing.T) {
	g, err := gossip.New(gossip.Options{Name: "n1", Incarnation: "i", Keys: testKeys, BindAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", g.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(c); len(got) > 0 {
		t.Errorf("read %q, %v", got, err)
	}
	_ = c.Close()
}
