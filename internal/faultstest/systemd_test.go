package faultstest

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

// A supervisor that listens as systemd does hears when the node listens, and when it stops.
func TestANodeTellsItsSupervisor(t *testing.T) {
	t.Parallel()
	addr := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	socket, err := net.ListenUnixgram("unixgram", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close() //nolint:errcheck // the test is over
	hears := func(want string) {
		t.Helper()
		if err := socket.SetReadDeadline(time.Now().Add(waitMax)); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 256)
		n, err := socket.Read(text)
		if err != nil || string(text[:n]) != want {
			t.Fatalf("the supervisor hears %q (%v), want %q", text[:n], err, want)
		}
	}
	p := newPlace(t, "n1", "--bootstrap")
	p.environ = []string{"NOTIFY_SOCKET=" + addr.Name}
	node := p.start(t)
	hears("READY=1")
	node.ready().stop()
	hears("STOPPING=1")
}
