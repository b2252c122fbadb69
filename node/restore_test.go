package node_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"dormouse/node"
)

func TestABackupThatIsNotWholeLeavesTheDirectoryEmptySim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := simTown(t, 1)
		if err := put(t.Context(), old.leader().Service(), "k", 1); err != nil {
			t.Fatal(err)
		}
		var backup bytes.Buffer
		if err := old.leader().Operator().Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		next := emptyTown(t)
		path := filepath.Join(next.dir, "backup")
		restore := func(raw []byte) error {
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			return node.Restore(t.Context(), next.config("n1"), path)
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
