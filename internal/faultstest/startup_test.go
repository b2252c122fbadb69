package faultstest

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestAWrongConfigurationExitsWithTwo(t *testing.T) {
	spawn(t, nil, "--no-such-flag").exits(2, "no-such-flag", "--help")
	spawn(t, nil, "--node-id", "n1", "--log-level", "loud").exits(2, "log.level")
	file := filepath.Join(t.TempDir(), "dormouse.yaml")
	if err := os.WriteFile(file, []byte("limits:\n  disk_reserv_bytes: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spawn(t, nil, "--node-id", "n1", "--config", file).exits(2, "disk_reserve_bytes")

	p := newPlace(t, "n1", "--bootstrap")
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("no base64!"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.environ = []string{"DORMOUSE_GOSSIP__KEY_FILE=" + key}
	p.start(t).exits(2, key)
}

func TestADirectoryInUseExitsWithFour(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "n1", "--bootstrap")
	p.start(t).ready()
	other := newPlace(t, "n1", "--bootstrap")
	other.dir = p.dir
	other.start(t).exits(4, "running on this data directory", "--data-dir")
}

func TestAnAddressInUseExitsWithSix(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over
	for name, take := range map[string]func(*place){
		"http":   func(p *place) { p.http = l.Addr().String() },
		"grpc":   func(p *place) { p.grpc = l.Addr().String() },
		"raft":   func(p *place) { p.raft = l.Addr().String() },
		"gossip": func(p *place) { p.gossip = l.Addr().String() },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "n1", "--bootstrap")
			take(p)
			p.start(t).exits(6, l.Addr().String(), "choose another")
		})
	}
}

func TestAnothersDataExitsWithThree(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "n1", "--bootstrap")
	n := p.start(t).ready()

	t.Run("of a node with another name", func(t *testing.T) {
		q := newPlace(t, "n2", "--bootstrap")
		q.start(t).ready().stop()
		q.name = "n3"
		q.start(t).exits(3, "node n2", "this is node n3")
	})
	t.Run("of another cluster", func(t *testing.T) {
		q := newPlace(t, "n2", "--bootstrap")
		q.start(t).ready().stop()
		q.how = []string{"--join", p.raft}
		q.start(t).exits(3, "belongs to cluster", "check the join addresses")
	})
	t.Run("another cluster's state under this one's log", func(t *testing.T) {
		q := newPlace(t, "n1", "--bootstrap")
		q.start(t).ready().stop()
		r := newPlace(t, "n1", "--bootstrap")
		r.start(t).ready().stop()
		if err := os.RemoveAll(filepath.Join(q.dir, "state")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(r.dir, "state"), filepath.Join(q.dir, "state")); err != nil {
			t.Fatal(err)
		}
		q.start(t).exits(3, "belongs to cluster", "its own data directory")
	})
	t.Run("of a newer format", func(t *testing.T) {
		q := newPlace(t, "n2", "--bootstrap")
		q.start(t).ready().stop()
		path := filepath.Join(q.dir, "state", "FORMAT")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var format map[string]any
		if err := json.Unmarshal(raw, &format); err != nil {
			t.Fatal(err)
		}
		format["format"] = 99
		if raw, err = json.Marshal(format); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		q.start(t).exits(3, "format 99", "start the newer version")
	})
	if !n.running() {
		t.Error("the node whose cluster it was has ended")
	}
}

func TestARemovedNodeExitsWithSeven(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "n1", "--bootstrap")
	p.start(t).ready()
	q := newPlace(t, "n2", "--join", p.raft)
	n := q.start(t).ready()
	c := dial(t, p)
	if _, err := c.Change(t.Context(), "leave", "n2"); err != nil {
		t.Fatal(err)
	}
	n.exits(7, "removed", "empty data directory")
	q.start(t).exits(7, "removed", "empty data directory")
}

func TestADataDirectoryThatCannotBeMadeExitsWithEight(t *testing.T) {
	p := newPlace(t, "n1", "--bootstrap")
	if err := os.WriteFile(p.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.start(t).exits(8, p.dir)
}
