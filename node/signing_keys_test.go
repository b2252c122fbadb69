package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestASigningKeyIsBoundToAHostAndScopes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := signingKeys([]string{"billing@agents.example:8443/team-*=" + file, "billing@other.example/a/b=" + file})
	if err != nil || len(keys) != 2 {
		t.Fatalf("%+v, %v", keys, err)
	}
	if k := keys[0]; k.Name != "billing" || k.Host != "agents.example:8443" || k.Scope != "team-*" || string(k.Secret) != "0123456789abcdef" {
		t.Errorf("%+v", k)
	}
	if k := keys[1]; k.Host != "other.example" || k.Scope != "a/b" {
		t.Errorf("%+v", k)
	}
	for _, setting := range []string{"billing=" + file, "billing@host=" + file, "@host/*=" + file, "billing@/*=" + file, "billing@host/=" + file, "billing@host/*="} {
		if _, err := signingKeys([]string{setting}); err == nil {
			t.Errorf("%q is accepted", setting)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := signingKeys([]string{"billing@host/*=" + file}); err == nil {
		t.Error("a key that others can read is accepted")
	}
}
