package attack

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/cluster/keys"
)

// greeting returns a hello of the handshake between nodes, as docs/security.md
// describes it.
func greeting(version, kind byte, fields ...string) []byte {
	b := append([]byte("DRMS"), version, kind)
	for _, f := range fields {
		b = binary.BigEndian.AppendUint16(b, uint16(len(f)))
		b = append(b, f...)
	}
	return append(b, '\n')
}

// say sends messages on one connection to addr, a moment apart, and returns all that
// is answered until the node hangs up.
func say(t *testing.T, addr string, messages ...[]byte) []byte {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // the answer is read
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() {
		for _, m := range messages {
			if _, err := c.Write(m); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	answer, err := io.ReadAll(c)
	if os.IsTimeout(err) {
		t.Errorf("the node keeps the connection open after %q", messages)
	}
	return answer
}

// A process that reaches the Raft port, and has no key, learns nothing and opens
// neither Raft nor the calls between nodes. The cluster's id is no proof.
func TestAStrangerGetsNothingOnTheRaftPort(t *testing.T) {
	n := startNode(t, nil)
	id, addr := n.Group().ClusterID(), n.Group().Addr()
	if id == "" {
		t.Fatal("the node has no cluster")
	}
	http2 := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	nonce := strings.Repeat("x", 32)
	for _, kind := range []byte{'R', 'P', 'E'} {
		for _, cluster := range []string{"", id} {
			for _, key := range []string{"", "n", "n0123456789abcdef", "h0123456789abcdef", "j00", "j" + strings.Repeat("ff", 32), "\x00"} {
				hello := greeting(4, kind, cluster, "evil", "i", "p", "127.0.0.1:1", "", key, nonce)
				answer := say(t, addr, hello, make([]byte, 32), http2)
				if len(answer) > 0 && answer[5] != 'K' {
					t.Errorf("kind %c, cluster %q, key %q: the verdict is %c", kind, cluster, key, answer[5])
				}
				if strings.Contains(string(answer), id) {
					t.Errorf("kind %c, key %q: the answer tells the cluster's id", kind, key)
				}
			}
		}
	}
	// The handshake of builds that proved nothing.
	if answer := say(t, addr, greeting(3, 'P', "", "evil", "i", "p", "127.0.0.1:1", ""), http2); len(answer) > 0 {
		t.Errorf("a handshake without proofs is answered with %q", answer)
	}
}

// A stranger who knows the name of the key, which is public, still cannot prove it: not
// with zeros, not with the node's own proof.
func TestTheNameOfTheKeyIsNoProof(t *testing.T) {
	n := startNode(t, nil)
	for deadline := time.Now().Add(30 * time.Second); len(n.Group().Members()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) { // a node is ready before it has written its own row
			t.Fatal("the node is no member of its cluster")
		}
	}
	addr := n.Group().Addr()
	host, err := keys.ParseHost(n.HostKey())
	if err != nil {
		t.Fatal(err)
	}
	_, key := host.Credentials().Own()
	for what, proof := range map[string]func(answer []byte) []byte{
		"zeros":           func([]byte) []byte { return make([]byte, 32) },
		"the node's own":  func(answer []byte) []byte { return answer[len(answer)-32:] },
		"too short, then": func([]byte) []byte { return []byte{1} },
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Write(greeting(4, 'P', n.Group().ClusterID(), "evil", "i", "p", "127.0.0.1:1", "", "n"+key, strings.Repeat("x", 32))); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 4096)
		size, err := c.Read(answer)
		if err != nil || answer[5] != 'W' {
			t.Fatalf("%s: %q, %v: the node does not go on with the handshake", what, answer[:size], err)
		}
		_, _ = c.Write(proof(slices.Clone(answer[:size])))
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		end, _ := io.ReadAll(c)
		if slices.Contains(end, 'W') {
			t.Errorf("%s: accepted", what)
		}
		_ = c.Close()
	}
	if members := n.Group().Members(); len(members) != 1 {
		t.Errorf("the cluster has %d members", len(members))
	}
}

// Connections that send nothing, more than the node has room for, do not keep the
// nodes of the cluster out.
func TestSilentConnectionsKeepNoNodeOut(t *testing.T) {
	n := startNode(t, nil)
	for range 300 {
		c, err := net.Dial("tcp", n.Group().Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() //nolint:errcheck // they end with the test
	}
	c, err := n.Group().DialPeer(t.Context(), n.Group().Addr())
	if err != nil {
		t.Fatalf("a node is kept out: %v", err)
	}
	_ = c.Close()
}
