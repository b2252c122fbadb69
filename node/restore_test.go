package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/node"
	"dormouse/storage"
)

func TestABackupThatIsNotWholeLeavesTheDirectoryEmptySim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old := newSimCluster(t, 1)
		if err := put(t.Context(), old.leader().Service(), "k", 1); err != nil {
			t.Fatal(err)
		}
		var backup bytes.Buffer
		if err := old.leader().Operator().Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		next := newEmptyCluster(t)
		path := filepath.Join(next.dir, "backup")
		restore := func(raw []byte) error {
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := node.Restore(t.Context(), next.config("n1"), path)
			return err
		}
		whole := backup.Bytes()
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 1
		for what, raw := range map[string][]byte{"cut short": whole[:len(whole)/2], "damaged": flipped, "no backup": []byte("hello")} {
			if err := restore(raw); exitCode(err) != 1 {
				t.Errorf("%s: %v, exit code %d", what, err, exitCode(err))
			}
		}
		if err := restore(whole); err != nil {
			t.Errorf("the whole one afterwards: %v", err)
		}
	})
}

// endsLater is a context that ends after it was asked some times.
type endsLater struct {
	context.Context //nolint:containedctx // is one
	left            int
}

func (e *endsLater) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// A restore that is stopped at any point leaves no data, and the next restore succeeds.
func TestARestoreThatIsStoppedLeavesNoDataSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old := newSimCluster(t, 1)
		for i := range 3 {
			value := agent.PutValue{Key: fmt.Sprint(i), Bytes: bytes.Repeat([]byte{byte(i)}, agent.ValueBytesMax)}
			if _, err := old.leader().Store().Commit(t.Context(), agent.Commit{Ops: []agent.Op{&value}}); err != nil {
				t.Fatal(err)
			}
		}
		var backup bytes.Buffer
		if err := old.leader().Operator().Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		next := newEmptyCluster(t)
		path := filepath.Join(next.dir, "backup")
		if err := os.WriteFile(path, backup.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		c := next.config("n1")
		stopped := 0
		for ; ; stopped++ {
			_, err := node.Restore(&endsLater{t.Context(), stopped}, c, path)
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			for _, part := range []string{"raft", "state"} {
				if _, err := os.Stat(filepath.Join(c.Node.DataDir, part)); !errors.Is(err, os.ErrNotExist) {
					t.Fatalf("%s stays after the context ended at its use %d: %v", part, stopped, err)
				}
			}
		}
		if stopped < 4 {
			t.Errorf("the context was asked %d times only", stopped)
		}
		next.disks["n1"] = storage.Disk
		next.start("n1")
		next.settle(1)
	})
}

// A restore makes an empty directory that others may read private, as the first start of a node does. If it
// cannot make the log, it leaves nothing that the next restore would refuse.
func TestARestoreIntoAnEmptyDirectorySim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old := newSimCluster(t, 1)
		next := newEmptyCluster(t)
		path := filepath.Join(next.dir, "backup")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(old.leader().Operator().Backup(t.Context(), file), file.Close()); err != nil {
			t.Fatal(err)
		}
		c := next.config("n1")
		raft := filepath.Join(c.Node.DataDir, "raft")
		if err := errors.Join(os.MkdirAll(c.Node.DataDir, 0o700), os.Chmod(c.Node.DataDir, 0o755)); err != nil {
			t.Fatal(err)
		}
		wrong := c
		wrong.Raft.LogStore = "tape"
		for range 2 {
			if _, err := node.Restore(t.Context(), wrong, path); err == nil {
				t.Error("it made a log on tape")
			}
			if info, err := os.Stat(c.Node.DataDir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the directory is %v, %v", info.Mode(), err)
			}
			if err := os.Mkdir(raft, 0o700); err != nil {
				t.Errorf("the log's directory stays: %v", err)
			}
		}
		done, err := node.Restore(t.Context(), c, path)
		if err != nil || done.ClusterID != old.leader().Group().ClusterID() || done.NewCluster == "" || done.Index == 0 || done.Time == 0 {
			t.Errorf("restored %+v: %v", done, err)
		}
	})
}

// The leases and owners in a backup belong to another cluster. The new cluster's node owns
// everything at once, with epochs that continue to increase; former owners are refused.
func TestARestoredClusterForgetsWhoOwnedWhatSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old := newInstanceCluster(t, 3, 1)
		old.settled("n1", "n2", "n3")
		reply := old.signal("n1", old.keys[0])
		var owned []layout.Partition
		for _, owner := range []string{"n1", "n2", "n3"} {
			owned = append(owned, someOf(old.simCluster, owner, old.leader()))
		}
		var backup bytes.Buffer
		if err := old.leader().Operator().Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		next := newEmptyCluster(t)
		next.lease = old.lease
		path := filepath.Join(next.dir, "backup")
		if err := os.WriteFile(path, backup.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := node.Restore(t.Context(), next.config("n1"), path); err != nil {
			t.Fatal(err)
		}
		next.disks["n1"] = storage.Disk
		r := next.start("n1")
		next.settle(1)
		began := time.Now()
		next.even("n1")
		if took := time.Since(began); took > time.Second {
			t.Errorf("the new node owned everything only after %v: the old leases take %v", took, nodeLease)
		}
		if leases := r.Machine().NodeLeases(); len(leases) != 1 || leases[0].Life != r.Group().Process() {
			t.Errorf("the leases are %+v", leases)
		}
		for _, p := range owned {
			if err := fencedPut(t.Context(), r, p); agent.CodeOf(err) != agent.CodeFenced {
				t.Errorf("the old owner of partition %d writes: %v", p.ID, err)
			}
			if now := r.Machine().Partition(p.ID); now.Epoch <= p.Epoch || fencedPut(t.Context(), r, now) != nil {
				t.Errorf("partition %d is %+v, and was %+v", p.ID, now, p)
			}
		}
		s := &instanceCluster{simCluster: next, keys: old.keys, sent: old.sent}
		if again := s.signal("n1", s.keys[0]); again.Epoch <= reply.Epoch {
			t.Errorf("the instance answers in epoch %d, after %d", again.Epoch, reply.Epoch)
		}
		s.whole("n1")
	})
}
