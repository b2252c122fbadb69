package importer_test

import (
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/importer"
	"dormouse/node/nodetest"
)

func TestConversationsBecomeInstances(t *testing.T) {
	n := nodetest.Start(t)
	list, err := importer.ReadTranscripts(strings.NewReader(`{"id":"a","messages":[{"role":"user","content":"h\u00e9"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}
{"id":"b","messages":[{"role":"user","content":"d"}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	reported := 0
	o := importer.InstanceOptions{Options: importer.Options{Parallel: 1, Copies: 2, Progress: func(n int) { reported += n }}, Idle: 10 * time.Millisecond}
	done, err := importer.ImportInstances(t.Context(), n.Client, n.Instances(), list, o)
	if err != nil || done.Conversations != 4 || done.Messages != 8 || reported != 8 || done.Differences.Count != 0 {
		t.Fatalf("%+v, reported of %d, %v", done, reported, err)
	}
	verify := func() importer.Report {
		report, err := importer.VerifyInstances(t.Context(), n.Client, list, importer.Options{Copies: 2})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	if r := verify(); r.Differences.Count != 0 || r.Conversations != 4 || r.Entries != 12 {
		t.Errorf("%+v", r)
	}
	// A second import sends nothing.
	again, err := importer.ImportInstances(t.Context(), n.Client, n.Instances(), list, o)
	if err != nil || again.Messages != 0 || again.Already != 8 || verify().Differences.Count != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	// One more turn, or another message, is a difference.
	ref := agent.InstanceRef{Manager: importer.InstancesManager, Key: "b"}
	if _, err := n.Instances().Signal(t.Context(), ref, agent.Signal{Type: "append", Data: agent.JSON(`{"entries":{"payload":{}}}`)}); err != nil {
		t.Fatal(err)
	}
	if r := verify(); r.Differences.Count == 0 || !strings.Contains(r.Differences.First[0], "b: entry 2") {
		t.Errorf("a turn too many goes unnoticed: %+v", r)
	}
	list[0].Messages[1].Payload = agent.JSON(`{"role":"assistant","content":"x"}`)
	other, err := importer.ImportInstances(t.Context(), n.Client, n.Instances(), list, o)
	if err != nil || other.Differences.Count == 0 {
		t.Errorf("another message goes unnoticed: %+v, %v", other, err)
	}
}

// An erased conversation, and one of a deleted scope, is stored again by the next import, although the cluster still
// knows the answers to the signals of the first one.
func TestAnErasedInstanceIsImportedAgain(t *testing.T) {
	n := nodetest.Start(t)
	erased := func() error {
		ref := agent.InstanceRef{Manager: importer.InstancesManager, Key: "a"}
		_, err := n.EraseAgent(t.Context(), agent.EraseAgent{Agent: ref.Checkpoint()})
		return err
	}
	deleted := func() error {
		_, err := n.Commit(t.Context(), agent.Commit{Scope: agent.DefaultScope, Ops: []agent.Op{&agent.DeleteScope{}}})
		return err
	}
	list, err := importer.ReadTranscripts(strings.NewReader(`{"id":"a","messages":[{"role":"user","content":"b"},{"role":"assistant","content":"c"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, remove := range []func() error{erased, erased, deleted, erased, deleted, deleted} {
		done, err := importer.ImportInstances(t.Context(), n.Client, n.Instances(), list, importer.InstanceOptions{Idle: 10 * time.Millisecond})
		if err != nil || done.Messages != 2 {
			t.Fatalf("import %d: %+v, %v", i, done, err)
		}
		report, err := importer.VerifyInstances(t.Context(), n.Client, list, importer.Options{})
		if err != nil || report.Differences.Count != 0 || report.Entries != 3 {
			t.Fatalf("after import %d: %+v, %v", i, report, err)
		}
		if err := remove(); err != nil {
			t.Fatal(err)
		}
	}
}
