package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/access"
	"dormouse/cmd/dormctl/kit"
	"dormouse/node/nodetest"
)

// shell runs commands against a node that asks for tokens, with a configuration directory.
type shell struct {
	*testing.T
	node   *nodetest.Node
	config string
	env    map[string]string
}

func (s *shell) run(stdin string, args ...string) (stdout, stderr string, code int) {
	s.Helper()
	var out, errs bytes.Buffer
	a := &kit.App{
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dial: kit.DialClient,
		Getenv: func(key string) string { return s.env[key] }, ConfigDir: func() (string, error) { return s.config, nil },
	}
	code = run(context.Background(), a, append(args, "--endpoints", s.node.GRPCAddr()))
	return out.String(), errs.String(), code
}

func (s *shell) ok(stdin string, args ...string) (stdout, stderr string) {
	s.Helper()
	stdout, stderr, code := s.run(stdin, args...)
	if code != 0 {
		s.Fatalf("%v: exit %d: %s%s", args, code, stdout, stderr)
	}
	return stdout, stderr
}

func TestTokensFromTheCommandLine(t *testing.T) {
	s := &shell{T: t, node: nodetest.StartWith(t, nodetest.Options{Auth: true, Loopback: true}), config: t.TempDir()}
	if _, stderr, code := s.run("", "whoami"); code != kit.ExitFailed || !strings.Contains(stderr, "dormctl login") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if _, stderr, code := s.run("dorm_wrong\n", "login"); code != kit.ExitUsage {
		t.Fatalf("a malformed token: exit %d: %s", code, stderr)
	}
	if _, stderr, code := s.run(access.NewSecret(), "login"); code != kit.ExitFailed {
		t.Fatalf("a wrong token: exit %d: %s", code, stderr)
	}
	s.ok(s.node.RootToken()+"\n", "login")
	file := filepath.Join(s.config, "dormouse", "credentials.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if out, _ := s.ok("", "whoami"); !strings.Contains(out, "root") || !strings.Contains(out, "tokens:change") {
		t.Error(out)
	}

	for _, ttl := range []string{"0d", "0s", "-1h", "-1d", "d"} {
		if out, stderr, code := s.run("", "tokens", "create", "--principal", "ci", "--can", "cluster:read", "--ttl="+ttl); code != kit.ExitUsage || !strings.Contains(stderr, "above zero") {
			t.Errorf("--ttl %s: exit %d: %s%s", ttl, code, out, stderr)
		}
	}
	out, _ := s.ok("", "tokens", "create", "--principal", "ci", "--scope", "team-*", "--can", "read,write,cluster:read", "--ttl", "30d", "-o", "json")
	var created struct {
		ID, Secret           string
		CreatedAt, ExpiresAt int64
	}
	if err := json.Unmarshal([]byte(out), &created); err != nil || access.CheckSecret(created.Secret) != nil {
		t.Fatal(out, err)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := access.WriteSecretFile(token, created.Secret); err != nil {
		t.Fatal(err)
	}
	s.ok("", "values", "put", "k", "v", "--scope", "team-a", "--token-file", token)
	if _, stderr, code := s.run("", "values", "put", "k", "v", "--scope", "other", "--token-file", token); code == 0 || !strings.Contains(stderr, `write in scope "other"`) {
		t.Errorf("exit %d: %s", code, stderr)
	}

	rotated, note := s.ok("", "tokens", "rotate", "ci", "-o", "json")
	if !strings.Contains(note, created.ID) || strings.Contains(rotated, created.ID) {
		t.Error(rotated, note)
	}
	if ls, _ := s.ok("", "tokens", "ls"); strings.Count(ls, "read,write on team-*; cluster:read") != 2 || strings.Contains(ls, created.Secret) {
		t.Error(ls)
	}
	s.ok("", "tokens", "revoke", created.ID)
	s.env = map[string]string{kit.TokenFileEnv: token}
	if _, _, code := s.run("", "whoami"); code != kit.ExitFailed {
		t.Errorf("a revoked token: exit %d", code)
	}
	s.env = nil

	if err := os.Chmod(file, 0o644); err != nil { //nolint:gosec // the test is about it
		t.Fatal(err)
	}
	if _, stderr, code := s.run("", "whoami"); code != kit.ExitUsage || !strings.Contains(stderr, "chmod 600") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	s.ok("", "logout")
	if _, _, code := s.run("", "whoami"); code != kit.ExitFailed {
		t.Errorf("after logout: exit %d", code)
	}
}
