package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
	"dormouse/proto/snapfile"
)

const transcripts = `{"id":"c1","agent":"a","messages":[{"role":"user","content":"<hi>"},{"role":"assistant","content":"ho"}]}
{"id":"c2","messages":[{"role":"user","content":"hi"}]}
`

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEndpointsComeFromTheEnvironmentUnlessAFlagNamesThem(t *testing.T) {
	c := newConsole()
	c.run("", "status")
	c.env["DORMOUSE_ENDPOINTS"] = "a:1, b:2"
	c.run("", "status")
	c.run("", "status", "--endpoints", "c:3")
	c.run("", "threads", "ls", "--stale")
	want := "127.0.0.1:7601 fixed=false|a:1,b:2 fixed=false|c:3 fixed=false|a:1,b:2 fixed=true"
	if got := strings.Join(c.dialled, "|"); got != want {
		t.Errorf("dialled %s, want %s", got, want)
	}
}

// A policy that is changed is read from the newest state: an old one would be written back.
func TestAPolicyIsNotChangedFromAnOldState(t *testing.T) {
	c := newConsole()
	c.run("", "scopes", "put", "acme", "--keys-max", "1", "--stale")
	c.run("", "scopes", "default", "--keys-max", "1", "--stale")
	c.run("", "scopes", "default", "--stale")
	if got := strings.Join(c.dialled, "|"); strings.Count(got, "fixed=false") != 2 || !strings.HasSuffix(got, "fixed=true") {
		t.Errorf("dialled %s", got)
	}
}

// A conversation is shown whole, however many pages of messages it has.
func TestAllMessagesOfAConversationAreShown(t *testing.T) {
	c := newConsole()
	const messages = 250
	one := `{"role":"user","content":{"text":"hi"}}`
	commit := `{"ops":[{"op":"save_messages","conversation_id":"c","messages":[` + strings.Repeat(one+",", messages-1) + one + `]}]}`
	if out, errs, code := c.run(commit, "commit", "-f", "-"); code != kit.ExitOK {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for tail, want := range map[string]int{"0": messages, "120": 120} {
		out, errs, code := c.run("", "conversations", "get", "c", "--tail", tail, "-o", "json")
		if got := strings.Count(out, `"role":"user"`); code != kit.ExitOK || got != want {
			t.Errorf("--tail %s: exit %d, %d messages, want %d: %s", tail, code, got, want, errs)
		}
	}
}

// Commands that take any number of names refuse too few as wrong usage.
func TestTooFewNamesAreWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"tokens", "revoke"}, {"pods", "reconcile", "m"}} {
		if out, errs, code := newConsole().run("", args...); code != kit.ExitUsage {
			t.Errorf("%v: exit %d: %s%s", args, code, out, errs)
		}
	}
}

func TestAConnectionThatCannotBeMadeIsAFailure(t *testing.T) {
	c := newConsole()
	c.dialling = errors.New("65 endpoints, at most 64")
	if _, errs, code := c.run("", "status"); code != kit.ExitFailed || !strings.Contains(errs, "65 endpoints") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestAWriteOfUnknownOutcomeNamesTheRequestThatSettlesIt(t *testing.T) {
	c := newConsole()
	c.store.AfterCommit = func(context.Context, agent.Commit) error { return agent.Errorf(agent.CodeUnknown, "no answer") }
	_, errs, code := c.run("", "threads", "append", "t1", `{"n":1}`)
	id := regexp.MustCompile(`--request-id ([0-9a-f-]{36})\n`).FindStringSubmatch(errs)
	if code != kit.ExitUnknown || id == nil {
		t.Fatalf("exit %d: %s", code, errs)
	}
	c.store.AfterCommit = nil
	if out, errs, code := c.run("", "threads", "append", "t1", `{"n":1}`, "--request-id", id[1]); code != kit.ExitOK || !strings.Contains(out, "rev       1\n") {
		t.Errorf("the repetition: exit %d, %s%s", code, out, errs)
	}
	if out, _, _ := c.run("", "threads", "get", "t1"); !regexp.MustCompile(`(?m)^rev +1$`).MatchString(out) {
		t.Errorf("it did not apply once: %s", out)
	}
}

// A command that would make another commit when it runs again says how to settle the first one.
func TestAnUnknownOutcomeOfACommandThatCannotBeRepeatedIsSettled(t *testing.T) {
	c := newConsole()
	c.store.AfterCommit = func(context.Context, agent.Commit) error { return agent.Errorf(agent.CodeUnknown, "no answer") }
	_, errs, code := c.run("", "timers", "put", "m", "k", "t", "--in", "5m")
	hint := regexp.MustCompile(`(--at \S+) in place of --in, and with (--request-id [0-9a-f-]{36})\n`).FindStringSubmatch(errs)
	if code != kit.ExitUnknown || hint == nil {
		t.Fatalf("exit %d: %s", code, errs)
	}
	_, errs, code = c.run("", "tokens", "create", "--principal", "ci", "--can", "read", "--scope", "s")
	revoke := regexp.MustCompile(`dormctl (tokens revoke \S+) revokes`).FindStringSubmatch(errs)
	if code != kit.ExitUnknown || revoke == nil || strings.Contains(errs, "--request-id") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	c.store.AfterCommit = nil
	again := strings.Fields("timers put m k t " + hint[1] + " " + hint[2])
	if out, errs, code := c.run("", again...); code != kit.ExitOK {
		t.Errorf("%v: exit %d: %s%s", again, code, out, errs)
	}
	if out, errs, code := c.run("", append(strings.Fields(revoke[1]), "-o", "json")...); code != kit.ExitOK || !strings.Contains(out, `"existed":true`) {
		t.Errorf("%s: exit %d: %s%s", revoke[1], code, out, errs)
	}
}

// Exit code 5 says that nothing was applied: half of an import, and a drain, were.
func TestWhatWasAppliedInPartIsNotUnavailable(t *testing.T) {
	c := newConsole()
	c.store.placing = agent.Errorf(agent.CodeUnavailable, "no leader is known")
	if _, errs, code := c.run("", "drain", "n3"); code != kit.ExitFailed || !strings.Contains(errs, "is drained") || strings.Contains(errs, "nothing was changed") {
		t.Errorf("drain: exit %d: %s", code, errs)
	}
	commits := 0
	c.store.AfterCommit = func(context.Context, agent.Commit) error {
		if commits++; commits == 2 {
			return agent.Errorf(agent.CodeUnavailable, "no leader is known")
		}
		return nil
	}
	_, errs, code := c.run("", "import", write(t, "transcripts.jsonl", transcripts), "--parallel", "1", "--give-up", "1ns")
	if code != kit.ExitFailed || !strings.Contains(errs, "run the same command again") || strings.Contains(errs, "nothing was changed") {
		t.Errorf("import: exit %d: %s", code, errs)
	}
}

func TestStoredTextCannotMoveTheTerminal(t *testing.T) {
	c := newConsole()
	c.run("", "values", "put", "evil\x1b[2J\u009b", "x")
	out, _, _ := c.run("", "values", "ls")
	if strings.ContainsAny(out, "\x1b\u009b") {
		t.Errorf("control characters came out: %q", out)
	}
	c.run("", "values", "get", "none\x1b]0;x\a")
	if _, errs, _ := c.run("", "values", "get", "none\x1b]0;x\a"); strings.ContainsAny(errs, "\x1b\a") {
		t.Errorf("control characters came out: %q", errs)
	}
}

func TestImportVerifiesThroughEachEndpointAlone(t *testing.T) {
	file := write(t, "transcripts.jsonl", transcripts)
	c := newConsole()
	out, errs, code := c.run("", "import", file, "--copies", "2", "--endpoints", "a:1,b:2", "-o", "json")
	if code != kit.ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if !regexp.MustCompile(`^{"conversations":4,"messages":6,"already":0,"seconds":[0-9.e-]+,"messages_per_second":[0-9.e+]+,` +
		`"retries":0,"unknown_settled":0,"differences":0}\n$`).MatchString(out) {
		t.Errorf("summary %s", out)
	}
	c.dialled = nil
	out, errs, code = c.run("", "import", file, "--copies", "2", "--verify", "--endpoints", "a:1,b:2")
	want := "ENDPOINT   NODE   AGENTS   ENTRIES   DIFFERENCES\na:1        n1     4        6         0\nb:2        n1     4        6         0\n"
	if code != kit.ExitOK || out != want {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if got := strings.Join(c.dialled, "|"); got != "a:1 fixed=true|b:2 fixed=true" {
		t.Errorf("dialled %s", got)
	}
}

func TestVerificationFailsOnTheFirstDifferenceAndShowsIt(t *testing.T) {
	file := write(t, "transcripts.jsonl", transcripts)
	c := newConsole()
	c.run("", "import", file)
	c.run("", "threads", "append", "c2", "{}")
	for _, output := range []string{"table", "json"} {
		out, errs, code := c.run("", "import", file, "--verify", "-o", output)
		if code != kit.ExitFailed || !strings.Contains(errs, "c2: the thread is at rev 2, the file at 1") {
			t.Errorf("exit %d: %s%s", code, out, errs)
		}
	}
	_, errs, code := c.run("", "import", file)
	if code != kit.ExitFailed || !strings.Contains(errs, "was not changed") {
		t.Errorf("importing again: exit %d: %s", code, errs)
	}
}

func TestWrongImportsAreUsage(t *testing.T) {
	file := write(t, "transcripts.jsonl", transcripts+"{\n")
	copied := write(t, "copied.jsonl", `{"id":"a","messages":[{"role":"user"}]}`+"\n"+`{"id":"a#2","messages":[{"role":"user"}]}`+"\n")
	for want, args := range map[string][]string{
		"the name of copy 2": {"import", copied, "--copies", "2", "--sessions"},
		"line 3":             {"import", file},
		"no such file":       {"import", "/no/such/file"},
		"takes FILE":         {"import"},
		"at least 1":         {"import", file, "--copies", "0"},
		"--rate at least 0":  {"import", file, "--rate", "-1"},
		"--copies is for":    {"import", file, "--raw", "--copies", "2"},
		"leave --fence out":  {"import", file, "--fence", "c@1"},
		`--parallel is "many": use a whole number`: {"import", file, "--parallel", "many"},
	} {
		if _, errs, code := newConsole().run("", args...); code != kit.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d, %s; want %q", args, code, errs, want)
		}
	}
}

func TestABackupAppearsWhole(t *testing.T) {
	c := newConsole()
	path := filepath.Join(t.TempDir(), "backup")
	if out, errs, code := c.run("", "backup", path, "-o", "json"); code != kit.ExitOK || out != fmt.Sprintf(`{"file":%q,"bytes":10}`+"\n", path) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "a snapshot" {
		t.Errorf("%q, %v", content, err)
	}
	if out, _, code := c.run("", "backup", "-"); code != kit.ExitOK || out != "a snapshot" {
		t.Errorf("exit %d: %q", code, out)
	}
}

func TestASnapshotIsInspectedOffline(t *testing.T) {
	crc := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	content := []byte("an engine's file")
	raw, err := proto.Marshal(&snapfile.SnapshotHeader{
		Format: 1, ClusterId: "c-1", Index: 42, Term: 3, WallMs: 1_800_000_000_000, Chain: 0xbeef, FeatureLevel: 1,
		Files: []*snapfile.SnapshotFile{{Name: "000001.sst", Size: uint64(len(content)), Crc32C: crc(content)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	stream := binary.BigEndian.AppendUint32([]byte("DORMSNP\n"), uint32(len(raw)))
	stream = append(binary.BigEndian.AppendUint32(stream, crc(raw)), raw...)
	stream = append(append(stream, content...), "DORMEND\n"...)
	c := newConsole()
	out, errs, code := c.run("", "snapshot", "inspect", write(t, "whole", string(stream)))
	want := `cluster         c-1
index           42 (term 3, chain 0000beef)
time            2027-01-15T08:00:00.000Z
feature level   1
format          1
files           1, 16 bytes
complete        yes
`
	if code != kit.ExitOK || out != want {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	damaged := bytes.Replace(stream, []byte("engine"), []byte("Engine"), 1)
	out, errs, code = c.run("", "snapshot", "inspect", write(t, "damaged", string(damaged)), "-o", "json")
	if code != kit.ExitFailed || !strings.Contains(errs, "is damaged: 000001.sst does not match") || !strings.Contains(out, `"damages":["000001.sst`) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if _, errs, code := c.run("", "snapshot", "inspect", write(t, "other", "x")); code != kit.ExitFailed || !strings.Contains(errs, "no Dormouse snapshot") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if len(c.dialled) > 0 {
		t.Errorf("dialled %v", c.dialled)
	}
}

func TestHelpHasTheExitCodesAndEveryCommandHasOne(t *testing.T) {
	c := newConsole()
	out, _, code := c.run("", "--help")
	if code != kit.ExitOK || !strings.Contains(out, kit.ExitTable) {
		t.Errorf("exit %d: %s", code, out)
	}
	for _, args := range [][]string{
		{"status"},
		{"members"},
		{"checkpoints", "get"},
		{"checkpoints", "put"},
		{"checkpoints", "patch"},
		{"checkpoints", "history"},
		{"checkpoints", "ls"},
		{"checkpoints", "rm"},
		{"threads", "append"},
		{"threads", "load"},
		{"threads", "tail"},
		{"threads", "watch"},
		{"threads", "fork"},
		{"threads", "compact"},
		{"threads", "verify"},
		{"threads", "ls"},
		{"threads", "rm"},
		{"agents", "hibernate"},
		{"agents", "thaw"},
		{"agents", "repair"},
		{"values", "get"},
		{"values", "put"},
		{"values", "rm"},
		{"values", "ls"},
		{"managers", "put"},
		{"instances", "signal"},
		{"instances", "attach"},
		{"instances", "watch"},
		{"cron", "put"},
		{"scopes", "ls"},
		{"scopes", "rm"},
		{"scopes", "put"},
		{"commit"},
		{"import"},
		{"export"},
		{"leave"},
		{"transfer"},
		{"promote"},
		{"demote"},
		{"backup"},
		{"snapshot", "inspect"},
		{"completion", "bash"},
		{"version"},
	} {
		if out, errs, code := c.run("", append(args, "--help")...); code != kit.ExitOK || !strings.Contains(out, strings.Join(args, " ")) {
			t.Errorf("%v --help: exit %d, %s%s", args, code, out, errs)
		}
	}
	if out, _, code := c.run("", "version", "-o", "json"); code != kit.ExitOK || !strings.HasPrefix(out, `{"version":"`) {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, _, code := c.run("", "completion", "bash"); code != kit.ExitOK || !strings.Contains(out, "dormctl") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestEveryCodeHasAnExitCode(t *testing.T) {
	for code, want := range map[agent.Code]int{
		agent.CodeInvalid: kit.ExitUsage, agent.CodeUnauthenticated: kit.ExitFailed, agent.CodeForbidden: kit.ExitFailed,
		agent.CodeNotFound: kit.ExitNotFound, agent.CodeIdempotencyMismatch: kit.ExitConflict, agent.CodeRequestExpired: kit.ExitUnknown,
		agent.CodeConflict: kit.ExitConflict, agent.CodeRevRegression: kit.ExitConflict, agent.CodeDuplicateEntry: kit.ExitConflict,
		agent.CodeRevisionMismatch: kit.ExitConflict, agent.CodeFenced: kit.ExitConflict, agent.CodeAlreadyClaimed: kit.ExitConflict,
		agent.CodeMissingThread: kit.ExitConflict, agent.CodeThreadMismatch: kit.ExitConflict, agent.CodeAlreadyExists: kit.ExitConflict,
		agent.CodeDeleted: kit.ExitConflict, agent.CodeCompacted: kit.ExitNotFound, agent.CodeTooLarge: kit.ExitFailed,
		agent.CodeOverloaded: kit.ExitUnavailable, agent.CodeUnavailable: kit.ExitUnavailable, agent.CodeReadOnly: kit.ExitUnavailable,
		agent.CodeCorrupt: kit.ExitFailed, agent.CodeInternal: kit.ExitFailed, agent.CodeUnknown: kit.ExitUnknown,
		agent.CodeThawFailed: kit.ExitConflict, agent.CodeHandlerFailed: kit.ExitFailed, agent.CodeMutationInProgress: kit.ExitConflict,
		agent.CodeMutationFailed: kit.ExitFailed, agent.CodeReconcileFailed: kit.ExitFailed,
	} {
		if got := kit.ExitCode(fmt.Errorf("doing something: %w", agent.Errorf(code, "x"))); got != want {
			t.Errorf("%s: exit %d, want %d", code, got, want)
		}
	}
}

func TestProgressIsALineWhereThereIsNoTerminalAndABarWhereThereIs(t *testing.T) {
	file := write(t, "transcripts.jsonl", transcripts)
	c := newConsole()
	if _, errs, _ := c.run("", "import", file); errs != "" {
		t.Errorf("a short import says %q on stderr", errs)
	}
	c = newConsole()
	c.terminal = true
	if _, errs, code := c.run("", "import", file); code != kit.ExitOK || !strings.Contains(errs, "importing") {
		t.Errorf("exit %d, stderr %q; want a bar", code, errs)
	}
}
