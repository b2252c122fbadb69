package fsm_test

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm"
	"dormouse/storage"
)

func TestMembersAreReplicatedAndARemovedOneStaysOut(t *testing.T) {
	fs := storage.MemFS()
	r := openSubject(t, fsm.Options{Dir: "state", FS: fs})
	one := func(commit []byte) agent.Decided { return r.feed([][]byte{commit})[0] }
	put := func(id, incarnation, addr string) agent.Decided {
		return one(r.machine.EncodePutMember(layout.Member{ID: id, Incarnation: incarnation, RaftAddr: addr, WantVote: true}))
	}
	for _, d := range []agent.Decided{put("n2", "i2", "b"), put("n1", "i1", "a"), put("n2", "i2", "c")} {
		if d.Err != nil {
			t.Fatal(d.Err)
		}
	}
	if got := r.machine.Members(); len(got) != 2 || got[0].ID != "n1" || got[1].RaftAddr != "c" || !got[1].WantVote {
		t.Fatalf("%+v", got)
	}
	if d := put("n1", "another", "x"); d.Err == nil || d.Err.Code != agent.CodeAlreadyExists {
		t.Fatalf("a second node of one name: %+v", d)
	}
	if d := one(r.machine.EncodeRemoveMember("n1", "i1")); d.Err != nil || !r.machine.Removed("i1") || len(r.machine.Members()) != 1 {
		t.Fatalf("%+v", d)
	}
	if d := put("n1", "i1", "a"); d.Err == nil || d.Err.Code != agent.CodeDeleted {
		t.Fatalf("a removed node is back: %+v", d)
	}
	if d := put("n1", "i3", "a"); d.Err != nil {
		t.Fatalf("the name with new data: %v", d.Err)
	}
	if d := one(r.machine.EncodeFeatureLevel(1)); d.Err != nil || r.machine.FeatureLevel() != 1 {
		t.Fatalf("%+v", d)
	}
	if d := one(r.machine.EncodeFeatureLevel(0)); d.Err == nil || r.machine.FeatureLevel() != 1 {
		t.Fatalf("the level was lowered: %+v", d)
	}
}

func TestALevelThatThisVersionCannotDoStopsTheReplica(t *testing.T) {
	var fatal error
	r := openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS(), Fatal: func(err error) { fatal = err }})
	before := r.hash()
	entry := r.machine.Pack(0, 0, r.tick, r.wall, [][]byte{r.machine.EncodeFeatureLevel(fsm.FeatureLevelMax + 1)})
	r.machine.Apply(&raft.Log{Type: raft.LogCommand, Index: 1, Term: 1, Data: entry})
	if fatal == nil || errors.Is(fatal, agent.ErrInvalid) {
		t.Fatalf("fatal: %v", fatal)
	}
	if r.hash() != before || r.machine.Applied() != 0 {
		t.Fatal("part of the entry was applied")
	}
}
