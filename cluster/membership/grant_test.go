package membership

import (
	"context"
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"dormouse/cluster/transport"
)

// oneStatus are peers of which one answers with a status.
type oneStatus struct {
	Peers
	status PeerStatus
	err    error
}

func (o *oneStatus) Status(context.Context, string) (PeerStatus, error) { return o.status, o.err }

// A founding that may still happen is never granted twice.
func TestAFoundingIsGrantedOnceTheOneBeforeIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		holder PeerStatus // n2, to which the founding f was granted
		err    error
		over   bool
	}{
		"it goes on":                    {holder: PeerStatus{Node: "n2", Incarnation: "i2", Founding: "f"}},
		"it has begun another":          {holder: PeerStatus{Node: "n2", Incarnation: "i2", Founding: "g"}, over: true},
		"it has given up":               {holder: PeerStatus{Node: "n2", Incarnation: "i2"}, over: true},
		"it has founded":                {holder: PeerStatus{Node: "n2", Incarnation: "i2", ClusterID: "c"}},
		"it has lost its data":          {holder: PeerStatus{Node: "n2", Incarnation: "later", Founding: "f"}, over: true},
		"another node is there":         {holder: PeerStatus{Node: "n3", Incarnation: "i3"}},
		"it does not answer":            {err: errors.New("cut off")},
		"it joined after its data went": {holder: PeerStatus{Node: "n2", Incarnation: "later", ClusterID: "c"}},
	} {
		stable := raft.NewInmemStore()
		self, err := transport.LoadSelf("n1", stable)
		if err != nil {
			t.Fatal(err)
		}
		peers := &oneStatus{status: c.holder, err: c.err}
		j := &Joiner{Roster: &Roster{Peers: peers, Self: self}, grants: newGrants(stable)}
		first := FoundingRequest{Node: "n2", Incarnation: "i2", RaftAddr: "n2:raft", Founding: "f"}
		for range 2 { // a repeated request is granted again
			if answer, err := j.HandleFounding(t.Context(), first); err != nil || !answer.Granted {
				t.Fatalf("%s: %+v, %v", name, answer, err)
			}
		}
		for _, r := range []FoundingRequest{
			{Node: "n3", Incarnation: "i3", RaftAddr: "n3:raft", Founding: "h"},
			{Node: "n2", Incarnation: "i2", RaftAddr: "n2:raft", Founding: "h"},
		} {
			j.grants = newGrants(stable) // as after a restart
			if err := j.grants.keep(first); err != nil {
				t.Fatal(err)
			}
			answer, err := j.HandleFounding(t.Context(), r)
			if err != nil || answer.Granted != c.over || !c.over && answer.Holder != "n2" {
				t.Errorf("%s: another founding of %s: %+v, %v", name, r.Node, answer, err)
			}
		}
		if err := self.Adopt("mine"); err != nil {
			t.Fatal(err)
		}
		if answer, err := j.HandleFounding(t.Context(), first); err != nil || answer.Granted || answer.ClusterID != "mine" {
			t.Errorf("%s: a member of a cluster answers %+v, %v", name, answer, err)
		}
	}
}

// during is a stable store that calls meanwhile when the grant is read.
type during struct {
	raft.StableStore
	meanwhile func()
}

func (d *during) Get(key []byte) ([]byte, error) {
	if string(key) == string(keyGrant) {
		d.meanwhile()
	}
	return d.StableStore.Get(key)
}

// A node that has just founded its cluster grants no other founding, also if it was asked before.
func TestAFoundingThatHasJustSucceededIsNotOver(t *testing.T) {
	stable := &during{StableStore: raft.NewInmemStore(), meanwhile: func() {}}
	self, err := transport.LoadSelf("n1", stable)
	if err != nil {
		t.Fatal(err)
	}
	j := &Joiner{Roster: &Roster{Self: self}, grants: newGrants(stable)}
	own := FoundingRequest{Node: "n1", Incarnation: self.Incarnation, RaftAddr: "n1:raft", Founding: "f"}
	j.grants.begin("f")
	if answer, err := j.HandleFounding(t.Context(), own); err != nil || !answer.Granted {
		t.Fatalf("its own founding: %+v, %v", answer, err)
	}
	stable.meanwhile = func() {
		if err := self.Adopt("mine"); err != nil {
			t.Error(err)
		}
		j.grants.end("f")
	}
	other := FoundingRequest{Node: "n2", Incarnation: "i2", RaftAddr: "n2:raft", Founding: "g"}
	if answer, err := j.HandleFounding(t.Context(), other); err != nil || answer.Granted {
		t.Errorf("the founding of another node: %+v, %v", answer, err)
	}
}

// A founding that a crash cut short is finished, unless Raft had written nothing of it.
func TestACrashInTheMidstOfAFoundingIsRepaired(t *testing.T) {
	for name, c := range map[string]struct {
		mark       string
		term       uint64
		entries    uint64
		want       uint64 // entries afterwards
		stillBegun bool
	}{
		"none has begun":          {},
		"before Raft wrote":       {mark: "c", stillBegun: true},
		"before the first entry":  {mark: "c", term: 1, want: 1},
		"before it was noted":     {mark: "c", term: 1, entries: 1, want: 1},
		"an entry without a term": {mark: "c", entries: 1, want: 1},
	} {
		logs, stable := raft.NewInmemStore(), raft.NewInmemStore()
		if err := stable.Set(keyFounding, []byte(c.mark)); err != nil {
			t.Fatal(err)
		}
		if err := stable.SetUint64([]byte("CurrentTerm"), c.term); err != nil {
			t.Fatal(err)
		}
		if c.entries > 0 {
			if err := logs.StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration}); err != nil {
				t.Fatal(err)
			}
		}
		if err := FinishFounding(logs, stable, "n1", "n1:raft"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		last, _ := logs.LastIndex()
		mark, _ := stable.Get(keyFounding)
		if last != c.want || (len(mark) > 0) != c.stillBegun {
			t.Errorf("%s: %d entries, and the mark is %q", name, last, mark)
		}
	}
}
