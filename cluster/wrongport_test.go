package cluster_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster"
)

// safeBuffer is a buffer that a logger writes to while a test reads it.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// A node that is told to join at another port of a node says which port that is.
func TestAJoinAddressThatIsNoRaftPortIsNamedAtOnce(t *testing.T) {
	for want, serve := range map[string]func(net.Conn){
		"as a gossip port does": func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) },
		"it is a gRPC port":     func(c net.Conn) { _, _ = c.Write([]byte{0, 0, 6, 4, 0, 0, 0, 0, 0}); _, _ = io.Copy(io.Discard, c) },
		"it is an HTTP port": func(c net.Conn) {
			line, err := bufio.NewReader(c).ReadString('\n')
			if err == nil && !strings.Contains(line, "HTTP/1.") { // as net/http does
				_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request")
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			port, err := l.net.Host("x").Listen("x:raft")
			if err != nil {
				t.Fatal(err)
			}
			defer port.Close() //nolint:errcheck // the test is over
			go func() {
				for {
					c, err := port.Accept()
					if err != nil {
						return
					}
					go func() { serve(c); _ = c.Close() }()
				}
			}()
			logged := &safeBuffer{}
			l.start("n1", func(o *cluster.Options) {
				o.Join = []string{"x:raft"}
				o.Logger = hclog.New(&hclog.LoggerOptions{Output: logged, Level: hclog.Warn})
			})
			time.Sleep(2 * time.Second)
			if text := logged.String(); !strings.Contains(text, want) || !strings.Contains(text, "x:raft") {
				t.Errorf("it logged %q, want %q in it", text, want)
			}
			time.Sleep(time.Minute)
			if times := strings.Count(logged.String(), "not the Raft port"); times > 20 {
				t.Errorf("it said so %d times in a minute", times)
			}
		})
	}
}
