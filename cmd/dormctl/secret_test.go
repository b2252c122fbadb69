package main

import (
	"path/filepath"
	"strings"
	"testing"

	"dormouse/access"
	"dormouse/cmd/dormctl/kit"
)

func TestTheSecretOfARootTokenIsWrittenOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "root.token")
	c := newConsole()
	var first string
	for _, want := range []string{"wrote", "unchanged"} {
		out, errs, code := c.run("", "tokens", "secret", "--file", file)
		if code != kit.ExitOK || !strings.Contains(out, want) {
			t.Fatalf("exit %d: %s%s; want %q", code, out, errs, want)
		}
		secret, err := access.ReadSecretFile(file)
		if err != nil || first != "" && secret != first {
			t.Fatalf("the file holds another secret: %v", err)
		}
		first = secret
	}
	if out, _, _ := c.run("", "tokens", "secret"); access.CheckSecret(strings.TrimSpace(out)) != nil {
		t.Errorf("%q is no secret", out)
	}
}
