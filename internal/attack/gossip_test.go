package attack

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"dormouse/config"
)

// bomb returns a message of memberlist that decompresses to size zeros: the type of
// a compressed message, and a map of the algorithm and the bytes in msgpack.
func bomb(t *testing.T, size int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := lzw.NewWriter(&packed, lzw.LSB, 8)
	if _, err := io.CopyN(w, zeros{}, int64(size)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m := append([]byte{9, 0x82, 0xa4}, "Algo"...)
	m = append(m, 0x00, 0xa3)
	m = append(m, "Buf"...)
	m = binary.BigEndian.AppendUint16(append(m, 0xda), uint16(packed.Len()))
	return append(m, packed.Bytes()...)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A compressed message without the gossip key is dropped before it is decompressed.
func TestAGossipBombIsNotDecompressed(t *testing.T) {
	var addr string
	startNode(t, func(c *config.Config) { addr = c.Gossip.Addr })
	message := bomb(t, 60<<20)
	if len(message) > 60_000 {
		t.Fatalf("the message has %d bytes: no packet holds it", len(message))
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	packets, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close() //nolint:errcheck // only written to
	for range 8 {
		if _, err := packets.Write(message); err != nil {
			t.Fatal(err)
		}
		stream, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = stream.Write(message)
		_ = stream.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.Copy(io.Discard, stream)
		_ = stream.Close()
	}
	time.Sleep(500 * time.Millisecond)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("%d messages of %d bytes made the node allocate %d MiB", 16, len(message), grown>>20)
	}
}

// Gossip is encrypted on loopback too.
func TestGossipAlwaysHasAKey(t *testing.T) {
	var addr string
	startNode(t, func(c *config.Config) { addr = c.Gossip.Addr })
	c, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // only asked
	// A ping in the clear, which a node without a key answers.
	ping := append([]byte{0, 0x82, 0xa5}, "SeqNo"...)
	ping = append(ping, 0x2a, 0xa4)
	ping = append(ping, "Node"...)
	ping = append(append(ping, 0xa2), "n1"...)
	if _, err := c.Write(ping); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	if n, err := c.Read(make([]byte, 1500)); err == nil {
		t.Errorf("a ping in the clear is answered with %d bytes", n)
	}
}
