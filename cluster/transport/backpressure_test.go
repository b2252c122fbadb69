package transport

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
)

// A follower whose state machine is slow does not pile up commands in memory.
func TestEntriesWaitForASlowStateMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 1 << 20
		r := newRaftCluster(t, 3)
		r.unappliedMax = limit
		r.start()
		leader := r.leader()
		r.mustPut(leader, "x", 0)
		time.Sleep(time.Second)
		var slow *raftNode
		for _, n := range r.nodes {
			if n != leader {
				slow = n
			}
		}
		slow.machine.slow(200 * time.Millisecond)
		blob := make([]byte, 24<<10) // 32 KiB in JSON
		var worst int64
		for i := range 200 {
			if err := leader.propose(testCommand{Key: "x", Value: i, Blob: blob}, time.Minute); err != nil {
				t.Fatal(err)
			}
			worst = max(worst, slow.stores.Meter.Between(slow.machine.applied(), slow.raft.CommitIndex()))
		}
		// What one AppendEntries carries comes on top of the bound.
		if most := int64(limit + 64*(33<<10)); worst > most {
			t.Errorf("%d KiB waited for the state machine, want at most %d", worst>>10, most>>10)
		}
		if worst < limit/2 {
			t.Errorf("only %d KiB ever waited: this test tests nothing", worst>>10)
		}
		time.Sleep(5 * time.Minute)
		if got := slow.machine.get("x"); got != 199 {
			t.Errorf("the slow node stopped at %d of 199", got)
		}
	})
}

// guardOver is a guard over stores in memory, and the network's side of it.
func guardOver(t *testing.T, change func(*raftlog.Options)) (*Guard, *simTransport, *raftlog.Stores) {
	t.Helper()
	o := raftlog.Options{Snapshots: noSnapshots{}, Check: checkSum, Logger: nullLogger}
	if change != nil {
		change(&o)
	}
	s, err := raftlog.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	end := newSimNetwork().listen("a")
	g := newGuard(end, s, nil)
	t.Cleanup(func() {
		_ = g.Close() // in memory
		_ = s.Close() // in memory
	})
	return g, end, s
}

// take plays raft: it answers the next call that reaches it.
func take(g *Guard, answer any) any {
	select {
	case rpc := <-g.Consumer():
		rpc.Respond(answer, nil)
		return rpc.Command
	case <-time.After(time.Minute):
		return nil
	}
}

func TestTheGuardRefusesWhatRaftMustNotSee(t *testing.T) {
	good := commandLogs(1, 1)
	bad := commandLogs(1, 1)
	bad[0].Data[2] ^= 1
	server := func(id, addr string, suffrage raft.ServerSuffrage) raft.Server {
		return raft.Server{ID: raft.ServerID(id), Address: raft.ServerAddress(addr), Suffrage: suffrage}
	}
	encoded := func(servers ...raft.Server) []byte {
		return raft.EncodeConfiguration(raft.Configuration{Servers: servers})
	}
	configured := func(raw []byte) any {
		return &raft.AppendEntriesRequest{Term: 1, Entries: []*raft.Log{{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raw}}}
	}
	voter, other := server("n1", "a:1", raft.Voter), server("n2", "b:1", raft.Nonvoter)
	whole := encoded(voter, other)
	for _, c := range []struct {
		name    string
		call    any
		damaged bool // the log's tail is missing
		full    bool // the disk is nearly full
		failed  bool // the stores have failed
		refused bool
	}{
		{name: "entries", call: &raft.AppendEntriesRequest{Term: 1, Entries: good}},
		{name: "entries that were damaged on the way", call: &raft.AppendEntriesRequest{Term: 1, Entries: bad}, refused: true},
		{name: "a stand-in for a compacted entry", call: &raft.AppendEntriesRequest{Term: 1, Entries: []*raft.Log{{Index: 1, Term: 1, Type: raftlog.LogPhantom}}}, refused: true},
		{name: "entries while the tail is missing", call: &raft.AppendEntriesRequest{Term: 1, Entries: good}, damaged: true},
		{name: "entries while the disk is full", call: &raft.AppendEntriesRequest{Term: 1, Entries: good}, full: true},
		{name: "entries when the stores have failed", call: &raft.AppendEntriesRequest{Term: 1, Entries: good}, failed: true, refused: true},
		{name: "a vote", call: &raft.RequestVoteRequest{Term: 1}},
		{name: "a vote while the tail is missing", call: &raft.RequestVoteRequest{Term: 1}, damaged: true, refused: true},
		{name: "a pre-vote while the tail is missing", call: &raft.RequestPreVoteRequest{Term: 1}, damaged: true, refused: true},
		{name: "a vote while the disk is full", call: &raft.RequestVoteRequest{Term: 1}, full: true},
		{name: "leadership", call: &raft.TimeoutNowRequest{}},
		{name: "leadership while the tail is missing", call: &raft.TimeoutNowRequest{}, damaged: true, refused: true},
		{name: "leadership while the disk is full", call: &raft.TimeoutNowRequest{}, full: true, refused: true},
		{name: "a snapshot while the tail is missing", call: &raft.InstallSnapshotRequest{Configuration: whole}, damaged: true},
		{name: "a configuration", call: configured(whole)},
		{name: "a configuration that was cut", call: configured(whole[:len(whole)-3]), refused: true},
		{name: "an empty configuration", call: configured(nil), refused: true},
		{name: "a configuration of noise", call: configured([]byte("\xff\xff\xff\xff noise")), refused: true},
		{name: "a configuration without servers", call: configured(encoded()), refused: true},
		{name: "a configuration without voters", call: configured(encoded(other)), refused: true},
		{name: "a server without an id", call: configured(encoded(voter, server("", "b:1", raft.Voter))), refused: true},
		{name: "a server without an address", call: configured(encoded(voter, server("n2", "", raft.Voter))), refused: true},
		{name: "an id twice", call: configured(encoded(voter, server("n1", "b:1", raft.Voter))), refused: true},
		{name: "an address twice", call: configured(encoded(voter, server("n2", "a:1", raft.Voter))), refused: true},
		{name: "an unknown suffrage", call: configured(encoded(voter, server("n2", "b:1", 7))), refused: true},
		{name: "a snapshot whose configuration was cut", call: &raft.InstallSnapshotRequest{Configuration: whole[:len(whole)-3]}, refused: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, end, s := guardOver(t, nil)
				s.Mark.Damaged.Store(c.damaged)
				s.Disk = raftlog.NewDiskWatch("", nil, nullLogger)
				s.Disk.Low.Store(c.full)
				if c.failed {
					_ = s.FailStop.Poison(errors.New("bad disk")) // the error that it gives back
				}
				if c.refused {
					if _, err := end.deliver(c.call, nil); err == nil || errors.Is(err, errLost) {
						t.Errorf("got %v, want a refusal", err)
					}
					return
				}
				answered := make(chan error, 1)
				go func() { _, err := end.deliver(c.call, nil); answered <- err }()
				if seen := take(g, "yes"); seen != c.call {
					t.Errorf("raft saw %v", seen)
				}
				if err := <-answered; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestANodeThatMayNotStandAsksForNoVotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, end, s := guardOver(t, nil)
		end.net.listen("b")
		ask := func() error {
			return errors.Join(
				g.RequestVote("b", "b", &raft.RequestVoteRequest{}, &raft.RequestVoteResponse{}),
				g.RequestPreVote("b", "b", &raft.RequestPreVoteRequest{}, &raft.RequestPreVoteResponse{}),
			)
		}
		s.Mark.Damaged.Store(true)
		if err := ask(); !errors.Is(err, errMayNotStand) {
			t.Errorf("with its tail missing: %v", err)
		}
		s.Mark.Damaged.Store(false)
		s.Disk = raftlog.NewDiskWatch("", nil, nullLogger)
		s.Disk.Low.Store(true)
		if err := ask(); !errors.Is(err, errMayNotStand) {
			t.Errorf("with its disk full: %v", err)
		}
		s.Disk.Low.Store(false)
		if err := ask(); errors.Is(err, errMayNotStand) {
			t.Error("it does not ask although it may")
		}
	})
}

// Raft would commit whatever follows in its own log, which may be another
// leader's.
func TestNothingIsCommittedThatTheLeaderHasNotVouchedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, end, _ := guardOver(t, nil)
		go func() {
			_, _ = end.deliver(&raft.AppendEntriesRequest{Term: 1, PrevLogEntry: 0, Entries: commandLogs(1, 2), LeaderCommitIndex: 100}, nil) // only sent
		}()
		seen, ok := take(g, &raft.AppendEntriesResponse{}).(*raft.AppendEntriesRequest)
		if !ok || seen.LeaderCommitIndex != 2 {
			t.Errorf("raft saw %+v, want the commit index lowered to 2", seen)
		}
	})
}

func TestCloseEndsTheGuardWhateverItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, end, _ := guardOver(t, nil)
		answered := make(chan error, 2)
		for range 2 { // raft takes neither
			go func() {
				_, err := end.deliver(&raft.AppendEntriesRequest{Term: 1, Entries: commandLogs(1, 1)}, nil)
				answered <- err
			}()
		}
		synctest.Wait()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := <-answered; err == nil {
				t.Error("a call was answered as if raft had taken it")
			}
		}
		if err := g.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
}
