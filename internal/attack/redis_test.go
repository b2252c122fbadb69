package attack

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/config"
	"dormouse/node"
)

// redisFrom connects to a node's server for clients of Redis from an address.
func redisFrom(t *testing.T, n *node.Node, address string) net.Conn {
	t.Helper()
	c, err := from(address).DialContext(t.Context(), "tcp", n.RedisAddr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A client of Redis that announces or asks for more than it sends or reads cannot fill the node's
// memory, and others are served.
func TestClientsOfRedisUseBoundedMemory(t *testing.T) {
	n := startNode(t, func(c *config.Config) { c.Redis.Addr = freeAddr(t) })
	if _, err := n.Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "big", Bytes: make([]byte, agent.ValueBytesMax)}}}); err != nil {
		t.Fatal(err)
	}
	half := strings.Repeat("x", agent.ValueBytesMax/2)
	for name, request := range map[string]string{
		"announced arguments":  "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4194304\r\n",
		"halves of arguments":  "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4194304\r\n" + half,
		"unread replies":       strings.Repeat("GET big\r\n", 20),
		"unread lists":         strings.Repeat("MGET"+strings.Repeat(" big", 100)+"\r\n", 3),
		"unfinished MULTI":     "MULTI\r\n" + strings.Repeat("SET k "+strings.Repeat("v", 4000)+"\r\n", 1100),
		"long announcements":   "*1025\r\n" + strings.Repeat("$0\r\n\r\n", 1024),
		"impossible arguments": "*1\r\n$9223372036854775806\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			grown := growth()
			for range 60 {
				c := redisFrom(t, n, "127.0.0.1")
				go func() { _, _ = io.WriteString(c, request) }() // the node may close the connection
			}
			time.Sleep(3 * time.Second) // until the node has read what it reads
			if most := grown(); most > growthMax {
				t.Errorf("memory grew by %d MiB, want at most %d", most>>20, growthMax>>20)
			}
			othersAreServed(t, n)
			c := redisFrom(t, n, "127.0.0.77")
			answer := make([]byte, 5)
			if _, err := fmt.Fprint(c, "SET other v\r\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "+OK\r\n" {
				t.Errorf("another client of Redis gets %q, %v", answer, err)
			}
		})
	}
}
