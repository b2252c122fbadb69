package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"dormouse/client"
	"dormouse/cmd/dormctl/kit"
	"dormouse/cmd/dormctl/transfer"
	"dormouse/importer"
	"dormouse/node/nodetest"
)

func TestTranscriptsBecomeLiveInstances(t *testing.T) {
	const file = "../../importer/testdata/transcripts.jsonl"
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true})
	out, errs, code := onNode(t, n, "import", file, "--instances", "--idle", "10ms", "-o", "json")
	var done transfer.ImportedInstances
	if err := json.Unmarshal([]byte(out), &done); err != nil || code != kit.ExitOK {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	list, err := transfer.ReadTranscripts(file)
	if err != nil {
		t.Fatal(err)
	}
	if done.Conversations != len(list) || done.Messages != importer.Messages(list) || done.Differences != 0 || int(done.Wakes) <= len(list) || done.Hibernated == 0 {
		t.Errorf("it did %+v", done)
	}
	if out, errs, code := onNode(t, n, "import", file, "--instances", "--verify"); code != kit.ExitOK || !strings.Contains(out, "n1") {
		t.Errorf("verify: exit %d: %s%s", code, out, errs)
	}
	for _, wrong := range [][]string{{"--raw"}, {"--sessions"}, {"--idle", "-1s"}} {
		if _, _, code := onNode(t, n, append([]string{"import", file, "--instances"}, wrong...)...); code != kit.ExitUsage {
			t.Errorf("with %v: exit %d", wrong, code)
		}
	}
}

// retried is a store whose client has made attempts again.
type retried struct{ kit.Store }

func (retried) Stats() client.Stats { return client.Stats{Retries: 3} }

func TestAnImportOfInstancesCountsWhatTheClientRetries(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true})
	var out, errs bytes.Buffer
	a := &kit.App{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
		Dial: func(t kit.Target) (kit.Store, error) {
			s, err := kit.DialClient(t)
			return retried{s}, err
		},
	}
	file := write(t, "transcripts.jsonl", transcripts)
	code := run(t.Context(), a, []string{"--endpoints", n.GRPCAddr(), "import", file, "--instances", "--idle", "10ms", "-o", "json"})
	var done transfer.ImportedInstances
	if err := json.Unmarshal(out.Bytes(), &done); err != nil || code != kit.ExitOK || done.Retries < 3 {
		t.Errorf("exit %d, %v: it did %+v: %s", code, err, done, errs.String())
	}
}
