package client_test

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

// slowConn is a connection that carries 640 KiB a second in each direction.
type slowConn struct{ net.Conn }

const slowPart = 32 << 10

func (c slowConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), slowPart)])
	time.Sleep(50 * time.Millisecond * time.Duration(n) / slowPart)
	return n, err
}

func (c slowConn) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		part := b[n:min(len(b), n+slowPart)]
		time.Sleep(50 * time.Millisecond * time.Duration(len(part)) / slowPart)
		var m int
		m, err = c.Conn.Write(part)
		n += m
	}
	return n, err
}

// A long message takes longer than an attempt on a slow connection. The call waits for it, and is not
// sent to another node, which would take as long.
func TestALongMessageIsWaitedForOnASlowConnectionSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		var reads atomic.Int32
		long := bytes.Repeat([]byte{7}, agent.ValueBytesMax)
		nodes := [2]*fake{}
		for i, addr := range []string{"a", "b"} {
			nodes[i] = &fake{read: func(context.Context, agent.Reads) (agent.Answers, error) {
				reads.Add(1)
				return agent.Answers{Answers: []agent.Answer{{Found: &agent.Value{Key: "k", Bytes: long}}}}, nil
			}}
			w.serve(addr, nodes[i], nodes[i])
		}
		c, err := client.Dial(client.Options{Endpoints: []string{"a", "b"}, Fixed: true, Dialer: func(ctx context.Context, addr string) (net.Conn, error) {
			conn, err := w.dial(ctx, addr)
			return slowConn{conn}, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })

		if _, err := c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: long}}}); err != nil {
			t.Error(err)
		}
		if n := len(nodes[0].seen()) + len(nodes[1].seen()); n != 1 {
			t.Errorf("the commit was sent %d times", n)
		}
		read := agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}}
		answers, err := c.Read(t.Context(), read)
		if err != nil {
			t.Fatal(err)
		}
		if v := answers.Answers[0].Found.(*agent.Value); !bytes.Equal(v.Bytes, long) { //nolint:forcetypeassert // the fake's
			t.Errorf("%d bytes", len(v.Bytes))
		}
		if n := reads.Load(); n != 1 {
			t.Errorf("the read was sent %d times", n)
		}
	})
}
