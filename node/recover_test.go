package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster/clustertest"
	"dormouse/fsm"
	"dormouse/node"
	"dormouse/storage"
)

// newDiskCluster returns a cluster of three nodes whose state is on a real disk.
func newDiskCluster(t *testing.T) *simCluster {
	t.Helper()
	w := newSimCluster(t, 0)
	for i := range 3 {
		w.disks[name(i)] = storage.Disk
	}
	w.found(3)
	return w
}

// killAll leaves in the directories of some nodes a kill -9 would leave, and ends all nodes:
// an orderly end would flush the state. The others' directories stay.
func (w *simCluster) killAll(kept ...string) {
	w.t.Helper()
	for _, name := range kept {
		if err := os.CopyFS(w.killed(name), os.DirFS(w.config(name).Node.DataDir)); err != nil {
			w.t.Fatal(err)
		}
	}
	w.heal()
	for name := range w.awake {
		_ = w.end(name)
	}
	for _, name := range kept {
		w.keepKilled(name)
	}
}

func (w *simCluster) killed(name string) string { return filepath.Join(w.dir, "killed-"+name) }

// keepKilled makes a new copy of what kill left the data directory of a node.
func (w *simCluster) keepKilled(name string) {
	w.t.Helper()
	dir := w.config(name).Node.DataDir
	if err := os.RemoveAll(dir); err != nil {
		w.t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(w.killed(name))); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// recovery returns the recovery of a node.
func (w *simCluster) recovery(name string) *node.Recovery {
	c := w.config(name)
	c.Cluster.Bootstrap, c.Cluster.Join = false, nil
	return &node.Recovery{Config: c}
}

// holds fails the test unless a node has the values 1 to n of the keys k0 to k(n-1).
func holds(t *testing.T, r *testNode, n int) {
	t.Helper()
	for i := range n {
		if got, err := get(t.Context(), r.Service(), fmt.Sprint("k", i)); got != i+1 || err != nil {
			t.Fatalf("k%d is %d, %v", i, got, err)
		}
	}
}

func putMany(t *testing.T, r *testNode, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := put(t.Context(), r.Service(), fmt.Sprint("k", i), i+1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestANodeLeftOfThreeIsANewClusterWithEveryWriteSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDiskCluster(t)
		last := w.leader()
		putMany(t, last, 0, 20)
		w.isolate(last.name) // the next write reaches only its log
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := put(ctx, last.Service(), "unknown", 1); err == nil {
			t.Fatal("a leader that is cut off has committed a write")
		}
		others := slices.DeleteFunc([]string{"n1", "n2", "n3"}, func(name string) bool { return name == last.name })
		w.killAll(last.name)

		recovery := w.recovery(last.name)
		done, err := recovery.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if done.NewClusterID == "" || done.NewClusterID == done.ClusterID || done.Replayed == 0 || done.Key == "" || len(done.Voters) != 3 {
			t.Errorf("the recovery is %+v", done)
		}
		r := w.startAlone(last.name)
		w.await("the node to serve alone", func() bool { return r.Ready() == nil })
		holds(t, r, 20)
		if got, err := get(t.Context(), r.Service(), "unknown"); got != 1 || err != nil {
			t.Errorf("the write whose outcome was unknown is %d, %v", got, err)
		}
		if r.Group().ClusterID() != done.NewClusterID {
			t.Errorf("the cluster is %s, and %s was told", r.Group().ClusterID(), done.NewClusterID)
		}
		if err := put(t.Context(), r.Service(), "after", 1); err != nil {
			t.Fatal(err)
		}

		// The old nodes are refused, and change nothing.
		for _, old := range others {
			o := w.start(old)
			before := o.Machine().Applied()
			time.Sleep(time.Minute)
			if o.Ready() == nil || o.Machine().Applied() != before || o.Group().ClusterID() == done.NewClusterID {
				t.Errorf("%s serves, or has joined", old)
			}
			if got := votersOf(r); len(got) != 1 || r.Ready() != nil {
				t.Errorf("with %s back, the voters are %v; ready: %v", old, got, r.Ready())
			}
			_ = w.end(old) // it may have ended by itself
		}
		holds(t, r, 20)

		// With empty directories they join.
		for _, old := range others {
			c := w.config(old)
			if err := os.RemoveAll(c.Node.DataDir); err != nil {
				t.Fatal(err)
			}
			c.Cluster.Bootstrap, c.Cluster.Join = false, []string{last.name + ":raft"}
			w.startWith(old, c)
		}
		w.settle(3)
		w.agree()
		for _, name := range others {
			holds(t, w.awake[name], 20)
		}
	})
}

func TestARecoveryIsFinishedAfterACrashAtAnyStepSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDiskCluster(t)
		putMany(t, w.leader(), 0, 5)
		w.agree()
		w.killAll("n3")

		var steps []string
		whole := w.recovery("n3")
		whole.OnStep(func(name string) error {
			steps = append(steps, name)
			return nil
		})
		if _, err := whole.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(steps) < 8 {
			t.Fatalf("the steps are %q", steps)
		}
		crash := errors.New("crash")
		for i, step := range steps {
			w.keepKilled("n3")
			dir := w.config("n3").Node.DataDir
			r, count := w.recovery("n3"), 0
			r.OnStep(func(string) error {
				if count++; count == i+1 {
					return crash
				}
				return nil
			})
			if _, err := r.Run(t.Context()); !errors.Is(err, crash) {
				t.Fatalf("crash before %q: %v", step, err)
			}
			if step != "state" && step != "name" { // from here on, the directory is of no cluster
				if err := w.refused("n3"); exitCode(err) != 5 {
					t.Errorf("after a crash before %q the node starts: %v", step, err)
				}
				if _, err := node.Survivors(t.Context(), []string{dir}); exitCode(err) != 5 {
					t.Errorf("after a crash before %q the directory is shown: %v", step, err)
				}
			}
			done, err := w.recovery("n3").Run(t.Context())
			if err != nil {
				t.Fatalf("again after a crash before %q: %v", step, err)
			}
			n := w.startAlone("n3")
			w.await("the node to serve alone", func() bool { return n.Ready() == nil })
			holds(t, n, 5)
			if n.Group().ClusterID() != done.NewClusterID {
				t.Errorf("after a crash before %q the cluster is %s, and %s was told", step, n.Group().ClusterID(), done.NewClusterID)
			}
			w.sleep("n3")
		}
	})
}

// refused starts a node and returns the error.
func (w *simCluster) refused(name string) error {
	w.t.Helper()
	c := w.config(name)
	transport, err := w.talk.Listen(c.Gossip.Addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer transport.Shutdown() //nolint:errcheck // its node never ran
	host := w.links.Host(name)
	n, err := node.Open(w.t.Context(), node.Options{
		Config: c, Keys: clustertest.Keys, Network: host, Servers: host, Gossip: transport, FS: storage.Disk, Logger: hclog.NewNullLogger(),
	})
	if err == nil {
		ctx, stop := context.WithCancel(w.t.Context())
		stop()
		_ = n.Run(ctx)
	}
	return err
}

func TestADirectoryThatLacksEntriesOfAnotherIsRefusedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDiskCluster(t)
		behind, ahead := w.follower(), w.leader()
		putMany(t, ahead, 0, 5)
		w.agree()
		w.isolate(behind.name)
		putMany(t, ahead, 5, 10)
		w.killAll(behind.name, ahead.name)
		dirs := []string{w.config(behind.name).Node.DataDir, w.config(ahead.name).Node.DataDir}

		all, err := node.Survivors(t.Context(), dirs)
		if err != nil || len(all) != 2 || all[0].Node != ahead.name || all[1].Node != behind.name {
			t.Fatalf("the directories hold %+v, %v", all, err)
		}
		if all[0].LastIndex <= all[1].LastIndex || all[0].ClusterID != all[1].ClusterID || len(all[0].Voters) != 3 {
			t.Errorf("the directories hold %+v", all)
		}
		r := w.recovery(behind.name)
		r.Others = dirs[1:]
		if _, err := r.Run(t.Context()); exitCode(err) != 2 {
			t.Fatalf("the older directory: %v, exit code %d", err, exitCode(err))
		}
		again, err := node.Survivors(t.Context(), dirs)
		if err != nil || again[1].LastIndex != all[1].LastIndex || again[1].ClusterID != all[1].ClusterID {
			t.Errorf("the refusal has changed the directory: %+v, %v", again, err)
		}
		wrong := w.recovery(ahead.name)
		wrong.Config.Node.DataDir = dirs[0]
		if _, err := wrong.Run(t.Context()); exitCode(err) != 3 {
			t.Errorf("under another node's name: %v, exit code %d", err, exitCode(err))
		}
		r.AcceptLoss = true
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := w.startAlone(behind.name)
		w.await("the node to serve alone", func() bool { return n.Ready() == nil })
		holds(t, n, 5)
		if got, err := get(t.Context(), n.Service(), "k9"); got != 0 || err != nil {
			t.Errorf("a write that only the other directory has is %d, %v", got, err)
		}
		w.sleep(behind.name)

		// The recovered directory is another cluster's.
		r = w.recovery(ahead.name)
		r.Others = dirs[:1]
		if _, err := r.Run(t.Context()); exitCode(err) != 3 {
			t.Errorf("directories of two clusters: %v, exit code %d", err, exitCode(err))
		}
		r.Others = nil
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		n = w.startAlone(ahead.name)
		w.await("the node to serve alone", func() bool { return n.Ready() == nil })
		holds(t, n, 10)
	})
}

func TestALogWithoutItsTailIsRecoveredOnlyIfTheLossIsAcceptedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDiskCluster(t)
		putMany(t, w.leader(), 0, 5)
		w.agree()
		wal := filepath.Join("raft", "wal")
		old := filepath.Join(w.dir, "old-wal")
		if err := os.CopyFS(old, os.DirFS(filepath.Join(w.config("n3").Node.DataDir, wal))); err != nil {
			t.Fatal(err)
		}
		putMany(t, w.leader(), 5, 10)
		time.Sleep(5 * time.Second) // the high-water mark moves
		w.killAll("n3")
		dir := w.config("n3").Node.DataDir
		if err := os.RemoveAll(filepath.Join(dir, wal)); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, wal), os.DirFS(old)); err != nil {
			t.Fatal(err)
		}
		if all, err := node.Survivors(t.Context(), []string{dir}); err != nil || all[0].Missing == 0 {
			t.Fatalf("the directory holds %+v, %v", all, err)
		}
		r := w.recovery("n3")
		if _, err := r.Run(t.Context()); exitCode(err) != 2 {
			t.Fatalf("a log without its tail: %v, exit code %d", err, exitCode(err))
		}
		r.AcceptLoss = true
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := w.startAlone("n3")
		w.await("the node to serve alone", func() bool { return n.Ready() == nil })
		holds(t, n, 5)
	})
}

func TestANodeThatRunsIsNotRecoveredSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDiskCluster(t)
		dir := w.config("n2").Node.DataDir
		if _, err := w.recovery("n2").Run(t.Context()); exitCode(err) != 4 {
			t.Errorf("recover: %v, exit code %d", err, exitCode(err))
		}
		if _, err := node.Survivors(t.Context(), []string{dir}); exitCode(err) != 4 {
			t.Errorf("show: %v, exit code %d", err, exitCode(err))
		}
		if _, err := node.BackupOffline(t.Context(), dir, filepath.Join(w.dir, "backup")); exitCode(err) != 4 {
			t.Errorf("back up: %v, exit code %d", err, exitCode(err))
		}
		putMany(t, w.leader(), 0, 3)
	})
}

// Work on the directory of a node that does not run ends with its context, and the node is as it was.
func TestInterruptedWorkLeavesADirectoryAsItWasSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDiskCluster(t)
		putMany(t, w.leader(), 0, 5)
		w.agree()
		w.killAll("n3")
		dir, out := w.config("n3").Node.DataDir, filepath.Join(w.dir, "backup")
		ctx, interrupt := context.WithCancel(t.Context())
		early, late := w.recovery("n3"), w.recovery("n3")
		late.OnStep(func(name string) error {
			if name == "name" {
				interrupt()
			}
			return nil
		})
		if _, err := late.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a recovery that is interrupted late: %v", err)
		}
		if _, err := early.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a recovery: %v", err)
		}
		if _, err := node.Survivors(ctx, []string{dir}); !errors.Is(err, context.Canceled) {
			t.Errorf("the survivors: %v", err)
		}
		if _, err := node.BackupOffline(ctx, dir, out); !errors.Is(err, context.Canceled) {
			t.Errorf("a backup: %v", err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("the interrupted backup has made its file")
		}
		done, err := w.recovery("n3").Run(t.Context())
		if err != nil || done.NewClusterID == "" {
			t.Fatalf("the recovery is %+v, %v", done, err)
		}
		r := w.startAlone("n3")
		w.await("the node to serve alone", func() bool { return r.Ready() == nil })
		holds(t, r, 5)
	})
}

func TestABackupOfAKilledNodeHasItsWholeLogSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDiskCluster(t)
		putMany(t, w.leader(), 0, 10)
		w.agree()
		w.killAll("n2")
		dir, out := w.config("n2").Node.DataDir, filepath.Join(w.dir, "backup")
		before, err := node.Survivors(t.Context(), []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := node.BackupOffline(t.Context(), dir, out); err != nil {
			t.Fatal(err)
		}
		after, err := node.Survivors(t.Context(), []string{dir})
		if err != nil || after[0].Applied != before[0].Applied || after[0].LastIndex != before[0].LastIndex {
			t.Errorf("the directory held %+v, and after the backup %+v, %v", before, after, err)
		}
		file, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close() //nolint:errcheck // only read
		if info, err := fsm.Inspect(file); err != nil || info.ClusterID != before[0].ClusterID || info.Index <= before[0].Applied {
			t.Errorf("the backup is %+v, %v; the state on disk ended at %d", info, err, before[0].Applied)
		}
		next := newEmptyCluster(t)
		if _, err := node.Restore(t.Context(), next.config("n1"), out); err != nil {
			t.Fatal(err)
		}
		next.disks["n1"] = storage.Disk
		r := next.start("n1")
		next.settle(1)
		holds(t, r, 10)
	})
}
