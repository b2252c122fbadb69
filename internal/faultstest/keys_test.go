package faultstest

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dormouse/cluster/keys"
)

// keyless returns the configuration of a node that is given no cluster key.
func keyless(t *testing.T, name string, how ...string) *place {
	t.Helper()
	p := newPlace(t, name, how...)
	p.environ = []string{"DORMOUSE_CLUSTER__KEY_FILE="}
	return p
}

// The first node makes the key. A second one receives it with a join token, and is a
// voter then. A third without either does not start, and one with another key never
// becomes a member.
func TestANodeJoinsWithATokenAndNotWithoutAKey(t *testing.T) {
	t.Parallel()
	first := keyless(t, "n1", "--bootstrap")
	first.start(t).ready()
	ring, err := keys.ReadRing(filepath.Join(first.dir, "cluster.key"))
	if err != nil {
		t.Fatal(err)
	}

	token := filepath.Join(t.TempDir(), "token")
	made, err := dial(t, first).JoinToken(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.WriteFile(token, made.Secret); err != nil {
		t.Fatal(err)
	}
	second := keyless(t, "n2", "--join-token-file", token)
	p := second.start(t).ready()
	if got, err := keys.ReadRing(filepath.Join(second.dir, "cluster.key")); err != nil || got.Encode() != ring.Encode() {
		t.Errorf("the second node keeps another key: %v", err)
	}
	p.stop()
	if err := os.Remove(token); err != nil { // it is needed once
		t.Fatal(err)
	}
	second.start(t).ready()

	keyless(t, "n3", "--join", first.raft).start(t).exits(2, "no cluster key", "join-token")
	other := keyless(t, "n4", "--join", first.raft)
	otherKey := filepath.Join(t.TempDir(), "cluster.key")
	if err := keys.WriteFile(otherKey, keys.New().Encode()); err != nil {
		t.Fatal(err)
	}
	stranger := other.start(t, "--cluster-key-file", otherKey)
	stranger.await("a refusal", func() bool { return stranger.said.contains("another cluster key") })
	if code := status(t.Context(), "http://"+other.http+"/readyz"); code == http.StatusOK {
		t.Error("a node with another key serves")
	}
}

// Secrets are for their owner only.
func TestLooseModesExitWithTwo(t *testing.T) {
	t.Parallel()
	p := keyless(t, "n1", "--bootstrap")
	p.start(t).ready().stop()
	for path, mode := range map[string]os.FileMode{p.dir: 0o750, filepath.Join(p.dir, "cluster.key"): 0o640} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s was made with mode %v", path, info.Mode())
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		p.start(t).exits(2, "chmod", path)
		if err := os.Chmod(path, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(p.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := entry.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
