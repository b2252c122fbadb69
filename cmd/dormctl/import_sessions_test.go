package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/cmd/dormctl/kit"
	"dormouse/cmd/dormctl/transfer"
	"dormouse/importer"
	"dormouse/node/nodetest"
)

// asMainEnv makes the test binary dormctl: what its workers are.
const asMainEnv = "DORMCTL_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMainEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// onNode runs dormctl on a real node, which other processes reach too.
func onNode(t *testing.T, n *nodetest.Node, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Setenv(asMainEnv, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	a := &kit.App{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dial: kit.DialClient, Self: self,
	}
	code = run(t.Context(), a, append([]string{"--endpoints", n.GRPCAddr()}, args...))
	return out.String(), errs.String(), code
}

func TestWorkersInProcessesOfTheirOwnRunTheTurnsOfTheTranscripts(t *testing.T) {
	const file = "../../importer/testdata/transcripts.jsonl"
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true})
	out, errs, code := onNode(t, n, "import", file, "--sessions", "--workers", "3", "-o", "json")
	var done transfer.ImportedSessions
	if err := json.Unmarshal([]byte(out), &done); err != nil || code != kit.ExitOK {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	list, err := transfer.ReadTranscripts(file)
	if err != nil {
		t.Fatal(err)
	}
	if done.Conversations != len(list) || done.Messages != importer.Messages(list) || done.Turns != importer.Turns(list) || done.Workers != 3 || done.Differences != 0 {
		t.Errorf("it did %+v", done)
	}
	if out, errs, code := onNode(t, n, "import", file, "--sessions", "--verify"); code != kit.ExitOK || !strings.Contains(out, "n1") {
		t.Errorf("verify: exit %d: %s%s", code, out, errs)
	}
	again, errs, code := onNode(t, n, "import", file, "--sessions", "--workers", "1", "-o", "json")
	if err := json.Unmarshal([]byte(again), &done); err != nil || code != kit.ExitOK || done.Turns != 0 || done.Already != importer.Messages(list) {
		t.Errorf("again: exit %d, %v: %s%s", code, err, again, errs)
	}
	readsLikeTheTranscript(t, n, list[0])
}

// A worker is a process of its own: it has the token and the TLS files of its parent only if it is told them.
func TestWorkersHaveTheCredentialsOfTheirParent(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Auth: true})
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(n.RootToken()), 0o600); err != nil {
		t.Fatal(err)
	}
	// --ca takes back what the environment says, which the worker has too.
	t.Setenv(kit.CaEnv, filepath.Join(t.TempDir(), "none.pem"))
	t.Setenv(kit.TokenEnv, "")
	args := []string{"import", "../../importer/testdata/transcripts.jsonl", "--sessions", "--workers", "1", "--token-file", token, "--ca", ""}
	if out, errs, code := onNode(t, n, args...); code != kit.ExitOK {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// readsLikeTheTranscript: a replay has the messages of a conversation, in their
// order and with who says them.
func readsLikeTheTranscript(t *testing.T, n *nodetest.Node, c importer.Conversation) {
	t.Helper()
	replay, errs, code := onNode(t, n, "sessions", "replay", c.ID, "-o", "json")
	var told struct {
		Timeline []struct {
			What string          `json:"what"`
			Data json.RawMessage `json:"data"`
		} `json:"timeline"`
	}
	if err := json.Unmarshal([]byte(replay), &told); err != nil || code != kit.ExitOK {
		t.Fatalf("replay: exit %d, %v: %s", code, err, errs)
	}
	var said []string
	for _, e := range told.Timeline {
		if e.What == "entry" {
			said = append(said, string(e.Data))
		}
	}
	var want []string
	for _, m := range c.Messages {
		want = append(want, string(m.Payload))
	}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("the replay says\n%s\nand the transcript\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
}

func TestAWorkerThatFailsFailsTheImport(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true})
	file := write(t, "t.jsonl", transcripts)
	fails, err := exec.LookPath("false")
	if err != nil {
		t.Fatal(err)
	}
	for self, want := range map[string]string{fails: "worker 1: exit status 1", "/no/such/program": "worker 1: start"} {
		var errs bytes.Buffer
		a := &kit.App{
			Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &errs, Getenv: func(string) string { return "" },
			Dial: kit.DialClient, Self: self,
		}
		args := []string{"--endpoints", n.GRPCAddr(), "import", file, "--sessions", "--workers", "1"}
		if code := run(t.Context(), a, args); code != kit.ExitFailed || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit %d: %s", self, code, errs.String())
		}
	}
}

func TestTheFlagsOfSessionImportsAreChecked(t *testing.T) {
	c := newConsole()
	file := write(t, "t.jsonl", transcripts)
	for _, args := range [][]string{{"--workers", "0"}, {"--workers", "65"}, {"--ttl", "999ms"}} {
		if _, errs, code := c.run("", append([]string{"import", file, "--sessions"}, args...)...); code != kit.ExitUsage || !strings.Contains(errs, "--workers") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
	if _, errs, code := c.run("", "import", file, "--sessions", "--raw"); code != kit.ExitUsage || !strings.Contains(errs, "--raw") {
		t.Errorf("with --raw: exit %d: %s", code, errs)
	}
}
