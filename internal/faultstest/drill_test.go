package faultstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/client"
)

// restored is what "dormoused restore -o json" and "dormoused verify -o json" print.
type restored struct {
	ClusterID  string `json:"cluster_id"`
	Backup     string `json:"backup"`
	Index      uint64 `json:"index"`
	Segments   int    `json:"segments"`
	Entries    int    `json:"entries"`
	StateHash  string `json:"state_hash"`
	NewCluster string `json:"new_cluster_id"`
}

// The drill: write, back up, go on under another leader, delete a scope by mistake, and restore to the
// instant before. The restored scope has the same rows. Damage to what is stored is refused.
func TestAPointInTimeIsRestored(t *testing.T) {
	t.Parallel()
	backups := filepath.Join(t.TempDir(), "backups")
	identity, recipient := ageKey(t)
	places := []*place{newPlace(t, "n1", "--bootstrap")}
	for _, name := range []string{"n2", "n3"} {
		places = append(places, newPlace(t, name, "--join", places[0].raft))
	}
	var nodes []*process
	for _, p := range places {
		p.environ = []string{
			"DORMOUSE_BACKUP__URL=file://" + backups, "DORMOUSE_BACKUP__RECIPIENTS=" + recipient,
			"DORMOUSE_BACKUP__LOG_EVERY=1s", "DORMOUSE_BACKUP__LOG_BYTES=65536",
		}
		nodes = append(nodes, p.start(t))
	}
	vote(t, places, nodes)
	c := dial(t, places...)
	put(t, c, "first", 50)
	backup, err := c.TakeBackup(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}

	killed := kill(t, c, nodes) // another leader goes on
	put(t, c, "second", 150)
	before := export(t, c)
	index := last(t, c)
	commit(t, c, &agent.DeleteScope{})
	mistake := put(t, c, "third", 5)
	shipped(t, c, nodes[(killed+1)%3], mistake)
	nodes[killed] = places[killed].start(t).ready()

	archive := []string{"--from", "file://" + backups, "--trust-key-file", clusterKey, "--identity", identity}
	var whole restored
	decode(t, offline(t, append([]string{"verify", "--all", "-o", "json"}, archive...)...), &whole)
	if whole.Index < mistake {
		t.Errorf("the shipped log ends at %d, before %d", whole.Index, mistake)
	}

	p := newPlace(t, "r1", "--bootstrap")
	point := append([]string{"restore", "-o", "json", "--at", strconv.FormatUint(index, 10), "--node-id", p.name, "--data-dir", p.dir, "--raft-addr", p.raft}, archive...)
	var done restored
	decode(t, offline(t, point...), &done)
	if done.Index > index || done.Entries == 0 || done.Backup < backup.Name {
		t.Errorf("it restored %+v, want up to entry %d after backup %s", done, index, backup.Name)
	}
	n := p.start(t).ready()
	again := dial(t, p)
	if after := export(t, again); after != before {
		t.Errorf("the restored scope has digest %s, and had %s", after, before)
	}
	if s, err := again.Status(t.Context()); err != nil || s.ClusterID != done.NewCluster || s.ClusterID == done.ClusterID {
		t.Errorf("it is cluster %q, %v, and should be %q", s.ClusterID, err, done.NewCluster)
	}
	n.stop()
	refusals(t, backups, archive)
}

// refusals damages what is stored, and fails the test unless a verification says so.
func refusals(t *testing.T, backups string, archive []string) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(backups, "*", "log", "*"))
	if err != nil || len(segments) < 3 {
		t.Fatalf("%d segments, %v", len(segments), err)
	}
	states, _ := filepath.Glob(filepath.Join(backups, "*", "backups", "*", "state"))
	for name, damage := range map[string]struct {
		file string
		to   func([]byte) []byte
		says string
	}{
		"a segment that is missing":   {segments[len(segments)-2], nil, "missing"},
		"a truncated segment":         {segments[len(segments)-2], func(b []byte) []byte { return b[:len(b)-1] }, "damaged or truncated"},
		"a flipped bit of a segment":  {segments[len(segments)-1], func(b []byte) []byte { b[len(b)-9] ^= 1; return b }, "damaged"},
		"a flipped bit of the backup": {states[0], func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, "backup"},
	} {
		raw, err := os.ReadFile(damage.file)
		if err != nil {
			t.Fatal(err)
		}
		if damage.to == nil {
			err = os.Remove(damage.file)
		} else {
			err = os.WriteFile(damage.file, damage.to(bytes.Clone(raw)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if said := refused(t, append([]string{"verify", "--all"}, archive...)...); !strings.Contains(said, damage.says) {
			t.Errorf("%s: it says %q", name, said)
		}
		if err := os.WriteFile(damage.file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	offline(t, append([]string{"verify", "--all"}, archive...)...) // it was whole again each time
}

// refused runs a command of the daemon that must fail, and returns what it says.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(dormoused, args...)
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil {
		t.Errorf("dormoused %q accepts what is damaged", args)
	}
	return said.String()
}

// ageKey returns the file of a new age identity, and its recipient.
func ageKey(t *testing.T) (file, recipient string) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "age.key")
	if err := os.WriteFile(file, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, id.Recipient().String()
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}

func commit(t *testing.T, c *client.Client, ops ...agent.Op) agent.Result {
	t.Helper()
	result, err := c.Commit(t.Context(), agent.Commit{Scope: "acme", Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// put writes values, and returns the index of the last one.
func put(t *testing.T, c *client.Client, prefix string, n int) (index uint64) {
	t.Helper()
	for i := range n {
		index = commit(t, c, &agent.PutValue{Key: fmt.Sprintf("%s-%d", prefix, i), ContentType: "text/plain", Bytes: bytes.Repeat([]byte("x"), 1000)}).Index
	}
	return index
}

// export returns a digest of all rows of the scope.
func export(t *testing.T, c *client.Client) string {
	t.Helper()
	digest := sha256.New()
	err := c.ExportScope(t.Context(), "acme", func(part agent.ScopePart) error {
		digest.Write(part.Rows)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// last returns the last entry that the scope's rows may have.
func last(t *testing.T, c *client.Client) (index uint64) {
	t.Helper()
	err := c.ExportScope(t.Context(), "acme", func(part agent.ScopePart) error {
		if part.Header != nil {
			index = part.Header.Index
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// kill kills the leader, waits for another one, and returns the number of the killed node.
func kill(t *testing.T, c *client.Client, nodes []*process) int {
	t.Helper()
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		if n.name != s.Leader {
			continue
		}
		n.kill()
		nodes[(i+1)%3].await("another leader", func() bool {
			after, err := c.Status(t.Context())
			return err == nil && after.Leader != "" && after.Leader != n.name
		})
		return i
	}
	t.Fatalf("no node is called %q", s.Leader)
	return 0
}

// shipped waits until the log was shipped up to an entry.
func shipped(t *testing.T, c *client.Client, alive *process, index uint64) {
	t.Helper()
	var seen *layout.BackupStatus
	alive.await("the shipped log", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		s, err := c.Status(ctx)
		if err == nil {
			seen = s.Backup
		}
		return seen != nil && seen.ShippedTo >= index
	})
	if seen.Gaps != 0 || seen.LogError != "" {
		t.Errorf("the backups are %+v", seen)
	}
}
