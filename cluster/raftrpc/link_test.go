package raftrpc

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// A connection that no call uses for long is closed, as those to addresses that no member has any more are.
func TestUnusedConnectionsAreClosedSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool{most: 3, idle: map[raft.ServerAddress][]*link{}}
		defer p.close()
		connect := func(target raft.ServerAddress) net.Conn {
			near, far := net.Pipe()
			p.put(newLink(near, SummedFrames, target))
			return far
		}
		isOpen := func(c net.Conn) bool {
			_ = c.SetReadDeadline(time.Now())
			_, err := c.Read(make([]byte, 1))
			return !errors.Is(err, io.EOF)
		}
		gone, seldom, often := connect("gone"), connect("member"), connect("member")
		for range 3 {
			if !isOpen(gone) || !isOpen(seldom) {
				t.Fatal("a connection was closed too early")
			}
			time.Sleep(unusedMax / 3)
			p.put(p.take("member"))
		}
		time.Sleep(unusedMax)
		p.put(p.take("member"))
		if isOpen(gone) || isOpen(seldom) || !isOpen(often) {
			t.Errorf("open: %v, %v, %v", isOpen(gone), isOpen(seldom), isOpen(often))
		}
		if len(p.idle) != 1 || len(p.idle["member"]) != 1 {
			t.Errorf("connections are kept: %v", p.idle)
		}
	})
}
