package faultstest

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dormouse/agent"
)

const (
	diskSize = "192m"
	reserve  = 16 << 20 // the nodes' setting for free space on such a disk
)

// smallDisk puts a node's data on a small file system of its own. It needs root.
func smallDisk(t *testing.T, p *place) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to mount a small disk")
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", p.dir, "tmpfs", 0, "size="+diskSize); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { // runs after the processes have ended, because cleanups run in reverse order
		if err := syscall.Unmount(p.dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", p.dir, err)
		}
	})
	p.environ = []string{"DORMOUSE_LIMITS__DISK_RESERVE_BYTES=16777216"}
}

func ballast(p *place) string { return filepath.Join(p.dir, "ballast") }

// leave fills the disk until that many bytes are free. With 0 it fills the disk
// completely.
func leave(t *testing.T, p *place, bytes int64) {
	t.Helper()
	file, err := os.OpenFile(ballast(p), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is not read
	block := make([]byte, 64<<10)
	for free(t, p) > bytes {
		if _, err := file.Write(block); errors.Is(err, syscall.ENOSPC) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func free(t *testing.T, p *place) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(p.dir, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * s.Bsize
}

// answer returns the status and the text of the answer to a write over HTTP.
func answer(t *testing.T, p *place) (int, string) {
	t.Helper()
	response, err := http.Post("http://"+p.http+"/v1/threads/other/entries", "application/json", strings.NewReader(`{"entries":[{}]}`)) //nolint:noctx // the test ends it
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	text := make([]byte, 4096)
	n, _ := response.Body.Read(text)
	return response.StatusCode, string(text[:n])
}

func TestANodeWhoseDiskIsNearlyFullIsReadOnlyUntilThereIsRoom(t *testing.T) {
	p := newPlace(t, "n1", "--bootstrap")
	smallDisk(t, p)
	n := p.start(t).ready()
	c := dial(t, p)
	fill(t, c, 0, 100)
	n.await("the reserve", func() bool {
		s, err := os.Stat(filepath.Join(p.dir, "raft", "reserve"))
		return err == nil && s.Size() == reserve
	})
	leave(t, p, reserve/2)
	n.await("writes to be refused", func() bool {
		code, text := answer(t, p)
		return code == http.StatusServiceUnavailable && strings.Contains(text, string(agent.CodeReadOnly))
	})
	if got := count(t, c); got != 100 { // reads still work
		t.Errorf("%d of 100 entries", got)
	}
	if err := os.Remove(ballast(p)); err != nil {
		t.Fatal(err)
	}
	n.await("writes to be taken again", func() bool {
		code, _ := answer(t, p)
		return code == http.StatusCreated || code == http.StatusOK
	})
	fill(t, c, 100, 150)
	if got := count(t, c); got != 150 {
		t.Errorf("%d of 150 entries", got)
	}
}

func TestANodeOnAFullDiskExitsWithEight(t *testing.T) {
	p := newPlace(t, "n1", "--bootstrap")
	smallDisk(t, p)
	n := p.start(t).ready()
	fill(t, dial(t, p), 0, 100)
	n.kill()
	if err := os.Remove(filepath.Join(p.dir, "raft", "reserve")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	leave(t, p, 0)
	p.start(t).exits(8, "no space left on device", "nothing acknowledged is lost")
	if err := os.Remove(ballast(p)); err != nil {
		t.Fatal(err)
	}
	p.start(t).ready()
	if got := count(t, dial(t, p)); got != 100 {
		t.Errorf("%d of 100 entries", got)
	}
}

// The leader's disk is filled completely at once, including the reserve, while entries
// are appended.
func TestOneFullDiskOfThreeDoesNotStopTheOthers(t *testing.T) {
	places := []*place{newPlace(t, "n1", "--bootstrap")}
	smallDisk(t, places[0])
	nodes := []*process{places[0].start(t).ready()} // the founder leads
	for _, name := range []string{"n2", "n3"} {
		p := newPlace(t, name, "--join", places[0].raft)
		places = append(places, p)
		nodes = append(nodes, p.start(t))
	}
	vote(t, places, nodes)
	fill(t, dial(t, places...), 0, 100)

	stop, began, enough := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var full time.Time // written before fullNow is closed
	fullNow := make(chan struct{})
	after := 0
	done := appendUntil(t, 100, stop, func(acked uint64) {
		if acked == 120 {
			close(began)
		}
		select {
		case <-fullNow:
			// After the next check of the disk, and an election.
			if after++; after >= 50 && time.Since(full) > 3*time.Second && after != 1<<30 {
				after = 1 << 30
				close(enough)
			}
		default:
		}
	}, places[1:]...)
	wait := func(what string, c <-chan struct{}) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(waitMax):
			t.Fatalf("waited %v for %s", waitMax, what)
		}
	}
	wait("the load", began)
	leave(t, places[0], 0)
	full = time.Now()
	close(fullNow)
	if leave(t, places[0], 0); nodes[0].running() { // the node may have freed space
		t.Logf("n1 runs with %d bytes free", free(t, places[0]))
	}
	wait("the others to go on", enough)
	close(stop)
	acked := <-done

	if !nodes[0].running() {
		nodes[0].exits(8, "disk")
	} else {
		nodes[0].await("n1 to lead no more", func() bool { return has(nodes[0], "accepts no more writes and does not lead") })
	}
	if err := os.Remove(ballast(places[0])); err != nil {
		t.Fatal(err)
	}
	if nodes[0].running() {
		nodes[0].stop()
	}
	nodes[0] = places[0].start(t)
	vote(t, places, nodes)
	var counts []uint64
	for _, p := range places {
		got := count(t, dial(t, p))
		counts = append(counts, got)
		if got < acked || got > acked+1 {
			t.Errorf("%s has %d entries, %d were acknowledged", p.name, got, acked)
		}
	}
	if counts[0] != counts[1] || counts[1] != counts[2] {
		t.Errorf("the nodes have %v entries", counts)
	}
}
