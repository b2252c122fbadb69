package faultstest

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// survivor is a line of "dormoused recover -o json".
type survivor struct {
	Dir       string `json:"dir"`
	Node      string `json:"node"`
	ClusterID string `json:"cluster_id"`
	LastIndex uint64 `json:"last_index"`
}

// offline runs a command of the daemon on directories of nodes that do not run, and returns its output.
func offline(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(dormoused, args...)
	cmd.Env = append(os.Environ(), "DORMOUSE_CLUSTER__KEY_FILE=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("dormoused %q: %v", args, err)
	}
	return out
}

// Three nodes are killed during a load, and the disks of two are lost. The third one is a new cluster with
// all that was acknowledged; an old node is refused, and new ones join.
func TestAfterTheLossOfAMajorityNothingAcknowledgedIsMissing(t *testing.T) {
	t.Parallel()
	places, nodes := trio(t)
	stop, enough := make(chan struct{}), make(chan struct{})
	done := appendUntil(t, 0, stop, func(acked uint64) {
		if acked == 300 {
			close(enough)
		}
	}, places...)
	select {
	case <-enough:
	case <-time.After(waitMax):
		t.Fatal("the load does not get on")
	}
	for _, n := range nodes {
		_ = n.cmd.Process.Kill() // all in one instant
	}
	close(stop)
	acked := <-done
	for _, n := range nodes {
		n.kill()
	}

	var all []survivor
	if err := json.Unmarshal(offline(t, "recover", "-o", "json", places[0].dir, places[1].dir, places[2].dir), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[0].LastIndex == 0 || all[0].ClusterID == "" {
		t.Fatalf("the directories hold %+v", all)
	}
	at := slices.IndexFunc(places, func(p *place) bool { return p.name == all[0].Node })
	left, others := places[at], slices.Delete(slices.Clone(places), at, at+1)
	offline(t, "recover", "--force-new-cluster", "--node-id", left.name, "--data-dir", left.dir, "--http-addr", left.http, "--grpc-addr", left.grpc,
		"--raft-addr", left.raft, "--gossip-addr", left.gossip)

	left.how, left.environ = nil, []string{"DORMOUSE_CLUSTER__KEY_FILE="}
	n := left.start(t).ready()
	got := count(t, dial(t, left))
	if got < acked || got > acked+1 { // the last append may have been applied
		t.Fatalf("%d entries are left, %d were acknowledged", got, acked)
	}

	// An old node has the old key: it becomes no member, and takes nothing over.
	old := others[0].start(t)
	n.await("the old node's refusal", func() bool { return has(n, "another cluster key") || has(old, "another cluster key") })
	if code := status(t.Context(), "http://"+others[0].http+"/readyz"); code == http.StatusOK {
		t.Error("the old node serves")
	}
	old.kill()
	fill(t, dial(t, left), got, got+10)

	for _, p := range others {
		if err := os.RemoveAll(p.dir); err != nil {
			t.Fatal(err)
		}
		p.how, p.environ = []string{"--join", left.raft, "--cluster-key-file", filepath.Join(left.dir, "cluster.key")}, nil
		p.start(t).ready()
	}
	for _, p := range places {
		if is := count(t, dial(t, p)); is != got+10 {
			t.Errorf("%s has %d of %d entries", p.name, is, got+10)
		}
	}
}
