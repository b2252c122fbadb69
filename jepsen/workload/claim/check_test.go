package claim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func TestClaimFindsEachWrong(t *testing.T) {
	take := func(process, at int, epoch, index uint64) history.Op {
		holder := workload.HolderName(process)
		return workloadtest.OK(process, at, at+10, "take", "c", Call{Holder: holder, TTL: time.Second}, Seen{epoch, holder, index, 0})
	}
	renew := func(process, at int, epoch, index uint64) history.Op {
		return workloadtest.OK(process, at, at+10, "renew", "c", Call{Holder: workload.HolderName(process), Epoch: epoch}, Seen{epoch, workload.HolderName(process), index, 0})
	}
	release := func(process, at int, epoch, index uint64) history.Op {
		return workloadtest.OK(process, at, at+10, "release", "c", Call{Holder: workload.HolderName(process), Epoch: epoch}, Seen{Index: index})
	}
	marked := func(process, at int, epoch, index uint64, mark string, rev uint64) history.Op {
		return workloadtest.OK(process, at, at+10, "release", "c", Call{Holder: workload.HolderName(1), Epoch: epoch, Mark: mark}, Seen{Index: index, Rev: rev})
	}
	hand := func(process, at int, epoch uint64, to int, next, index uint64) history.Op {
		in := Call{Holder: workload.HolderName(process), Epoch: epoch, To: workload.HolderName(to)}
		return workloadtest.OK(process, at, at+10, "release", "c", in, Seen{next, in.To, index, 0})
	}
	write := func(process, at int, name string, epoch, seq, index uint64) history.Op {
		return workloadtest.OK(process, at, at+10, "write", "c", FencedWrite{Name: name, Epoch: epoch}, FencedWrote{Seq: seq, Index: index})
	}
	get := func(process, at int, epoch uint64, holder string, index uint64) history.Op {
		return workloadtest.OK(process, at, at+10, "get", "c", struct{}{}, Seen{epoch, holder, index, 0})
	}
	load := func(process, at int, index uint64, names ...string) history.Op {
		return workloadtest.OK(process, at, at+10, "load", "c", 0, FencedSeen{Rev: uint64(len(names)), Entries: names, Index: index})
	}
	fault := []history.Event{{Kind: history.EventLeader, Term: 1}, {Kind: history.EventFault, Name: "pause", Step: 1, At: 100 * time.Millisecond}}
	leads := []history.Event{{Kind: history.EventLeader, Term: 1, At: 0}}
	elected := append(slices.Clone(leads), history.Event{Kind: history.EventLeader, Term: 2, At: 500 * time.Millisecond})
	lapsed := workloadtest.Script{take(1, 10, 16, 1), write(1, 2100, "a", 16, 0, 2)}
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
		events     []history.Event
	}{
		{"one after the other", "", workloadtest.Script{
			take(1, 10, 16, 1), get(3, 30, 16, "p1", 1), write(1, 30, "a", 16, 0, 2), workloadtest.Refused(take(2, 50, 0, 0), "already_claimed"), renew(1, 60, 16, 3),
			release(1, 80, 16, 4), workloadtest.Refused(write(1, 100, "b", 16, 0, 0), "fenced"), take(2, 120, 80, 5), write(2, 140, "c", 80, 1, 6), load(3, 160, 6, "a", "c"),
		}, leads},
		{"one after the other, with indexes that are not known", "", workloadtest.Script{
			take(1, 10, 16, 0), write(1, 30, "a", 16, 0, 2), release(1, 80, 16, 0), take(2, 120, 80, 0), write(2, 140, "c", 80, 1, 6), take(3, 1400, 144, 8),
		}, leads},
		{"an epoch that is smaller, with indexes that are not known", "epoch went back", workloadtest.Script{take(1, 10, 32, 0), take(2, 1200, 16, 0)}, nil},
		{"after it has lapsed", "", workloadtest.Script{take(1, 10, 16, 1), take(2, 1200, 80, 5), workloadtest.Refused(write(1, 1300, "a", 16, 0, 0), "fenced"), write(2, 1300, "b", 80, 0, 6)}, leads},
		{"handed over", "", workloadtest.Script{take(1, 10, 16, 1), hand(1, 30, 16, 2, 32, 2), get(3, 50, 32, "p2", 2), write(2, 50, "a", 32, 0, 3)}, leads},
		{"taken anew by its holder", "", workloadtest.Script{take(1, 10, 16, 1), take(1, 30, 32, 2), workloadtest.Refused(write(1, 50, "a", 16, 0, 0), "fenced")}, leads},
		{"an unknown write under the newest epoch", "", workloadtest.Script{take(1, 10, 16, 1), workloadtest.Unknown(write(1, 30, "a", 16, 0, 0)), load(3, 50, 2, "a")}, leads},
		{"an unknown release", "", workloadtest.Script{take(1, 10, 16, 1), workloadtest.Unknown(release(1, 30, 16, 0)), take(2, 50, 80, 5)}, leads},
		{"late, while a node is away", "", lapsed, fault},
		{"late, under a new leader", "", lapsed, elected},
		{"late, and nobody knows who leads", "", lapsed, nil},
		{"an epoch that two were given", "epoch used again", workloadtest.Script{take(1, 10, 16, 1), take(2, 1200, 16, 5)}, nil},
		{"an epoch that is smaller", "epoch went back", workloadtest.Script{take(1, 10, 32, 2), take(2, 1200, 16, 5)}, nil},
		{"an epoch that is smaller in the log", "epoch went back", workloadtest.Script{take(1, 10, 32, 2), take(2, 10, 16, 5)}, nil},
		{"a stale holder's write", "stale holder wrote", workloadtest.Script{take(1, 10, 16, 1), take(2, 1200, 80, 5), write(2, 1220, "b", 80, 0, 6), write(1, 1230, "a", 16, 1, 7)}, nil},
		{"a stale holder's write that nobody was told of", "stale holder wrote", workloadtest.Script{
			take(1, 10, 16, 1), take(2, 1200, 80, 5), write(2, 1220, "b", 80, 0, 6), workloadtest.Unknown(write(1, 1230, "a", 16, 1, 0)), load(3, 1250, 7, "b", "a"),
		}, nil},
		{"a write after the next holder's claim", "lost or stale", workloadtest.Script{
			take(1, 10, 16, 1), take(2, 1200, 80, 5), workloadtest.Unknown(write(1, 1220, "a", 16, 0, 0)), load(3, 1240, 6, "a"),
		}, nil},
		{"a write after the next holder's claim in the log", "outside its holding", workloadtest.Script{take(1, 10, 16, 1), take(2, 1200, 80, 5), write(1, 1205, "a", 16, 0, 6)}, nil},
		{"beside a release with a mark", "", workloadtest.Script{
			take(1, 10, 16, 1), write(2, 30, "a", 16, 0, 2), marked(1, 30, 16, 2, "m", 2), workloadtest.Refused(write(3, 30, "b", 16, 0, 0), "fenced"), load(3, 50, 2, "a", "m"),
		}, leads},
		{"after the release, within its entry", "stale holder wrote", workloadtest.Script{
			take(1, 10, 16, 1), write(2, 30, "a", 16, 0, 2), marked(1, 30, 16, 2, "m", 2), write(3, 30, "b", 16, 2, 2), load(3, 50, 2, "a", "m", "b"),
		}, leads},
		{"after the mark of a release that is unknown", "stale holder wrote", workloadtest.Script{
			take(1, 10, 16, 1), workloadtest.Unknown(marked(1, 30, 16, 2, "m", 0)), write(3, 30, "b", 16, 1, 2), load(3, 50, 2, "m", "b"),
		}, leads},
		{"a write before its holding", "outside its holding", workloadtest.Script{take(1, 10, 16, 4), write(1, 15, "a", 16, 0, 3)}, nil},
		{"a write after the release", "outside its holding", workloadtest.Script{take(1, 10, 16, 1), release(1, 30, 16, 2), write(1, 50, "a", 16, 0, 3)}, nil},
		{"a write under an epoch between", "outside its holding", workloadtest.Script{take(1, 10, 16, 1), take(2, 1200, 80, 5), write(1, 1220, "a", 17, 0, 6)}, nil},
		{"renewed after the next holder's claim", "outside its holding", workloadtest.Script{take(1, 10, 16, 1), take(2, 1200, 80, 5), renew(1, 1220, 16, 6)}, nil},
		{"refused and there", "refused but applied", workloadtest.Script{take(1, 10, 16, 1), workloadtest.Refused(write(1, 30, "a", 16, 0, 0), "fenced"), load(3, 50, 2, "a")}, nil},
		{"two holders", "two holders", workloadtest.Script{take(1, 10, 16, 1), take(2, 500, 32, 2)}, nil},
		{"two holders after a renewal", "two holders", workloadtest.Script{take(1, 10, 16, 1), renew(1, 700, 16, 2), take(2, 1400, 48, 3)}, nil},
		{"nobody seems to hold it", "holding unseen", workloadtest.Script{take(1, 10, 16, 1), get(3, 500, 0, "", 1)}, nil},
		{"another seems to hold it", "holding unseen", workloadtest.Script{take(1, 10, 32, 2), get(3, 500, 16, "p7", 1)}, nil},
		{"its write is turned away", "fenced for no reason", workloadtest.Script{take(1, 10, 16, 1), workloadtest.Refused(write(1, 500, "a", 16, 0, 0), "fenced")}, nil},
		{"its renewal is turned away", "fenced for no reason", workloadtest.Script{take(1, 10, 16, 1), workloadtest.Refused(renew(1, 500, 16, 0), "fenced")}, nil},
		{"it stands in its own way", "fenced for no reason", workloadtest.Script{take(1, 10, 16, 1), workloadtest.Refused(take(1, 500, 0, 0), "already_claimed")}, nil},
		{"under a lapsed holding", "under a lapsed holding", lapsed, leads},
		{"a stale read of the claim", "lost or stale", workloadtest.Script{take(1, 10, 16, 1), release(1, 30, 16, 2), get(3, 50, 16, "p1", 1)}, nil},
		{"another's holding", "another holding", workloadtest.Script{workloadtest.OK(1, 10, 20, "take", "c", Call{Holder: "p1", TTL: time.Second}, Seen{16, "p2", 1, 0})}, nil},
		{"renewed into another", "another holding", workloadtest.Script{take(1, 10, 16, 1), workloadtest.OK(1, 30, 40, "renew", "c", Call{Holder: "p1", Epoch: 16}, Seen{32, "p1", 2, 0})}, nil},
		{"a list that is too short", "entries missing", workloadtest.Script{take(1, 10, 16, 1), write(1, 30, "a", 16, 0, 2), workloadtest.OK(3, 50, 60, "load", "c", 0, FencedSeen{Rev: 1, Index: 2})}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := workloadtest.Judged(t, New(), c.calls.History(c.events...))
			workloadtest.Expect(t, r, c.rule)
			for _, f := range r.Findings {
				if !bytes.Contains(f.Picture, []byte("<html")) {
					t.Errorf("the picture of %q has %d bytes: %s", f.Rule, len(f.Picture), f.Detail)
				}
			}
		})
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct store of one claim, with the thread and the value.
type store struct {
	r       *rand.Rand
	index   uint64
	held    Seen
	entries []string
	value   string
	puts    uint64
}

func (s *store) do(call string, in any) any {
	s.index++
	if s.r.IntN(40) == 0 {
		s.held = Seen{} // it has expired; the checker sees a ttl of 0
	}
	begin := func(holder string) Seen {
		s.held = Seen{Epoch: s.index << 4, Holder: holder, Index: s.index}
		return s.held
	}
	switch in := in.(type) {
	case Call:
		switch {
		case call == "take" && (s.held.Epoch == 0 || s.held.Holder == in.Holder):
			return begin(in.Holder)
		case call == "take" || s.held.Epoch != in.Epoch || s.held.Holder != in.Holder:
			return nil
		case call == "release" && in.To != "":
			return begin(in.To)
		case call == "release":
			s.held = Seen{}
		}
		return Seen{s.held.Epoch, s.held.Holder, s.index, 0}
	case FencedWrite:
		if s.held.Epoch == 0 || s.held.Epoch != in.Epoch {
			return nil
		}
		out := FencedWrote{Seq: uint64(len(s.entries)), Index: s.index}
		s.entries = append(s.entries, in.Name)
		if in.Value {
			s.puts++
			s.value, out.Revision = in.Name, s.puts
		}
		return out
	case uint64:
		rev := uint64(len(s.entries))
		return FencedSeen{rev, slices.Clone(s.entries[rev-workload.TailOf(rev, in):]), s.puts, s.value, s.index}
	default:
		return Seen{s.held.Epoch, s.held.Holder, s.index, 0}
	}
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{r: rand.New(rand.NewPCG(seed, 11))}
	n, epochs := 0, []uint64{1}
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(at int) (string, any) {
		n++
		epoch := epochs[max(0, len(epochs)-1-int(s.r.ExpFloat64()))]
		c := Call{Holder: workload.HolderName(at), Epoch: epoch}
		switch draw := s.r.IntN(100); {
		case draw < 25:
			return "take", Call{Holder: workload.HolderName(at), TTL: 1}
		case draw < 32:
			return "renew", c
		case draw < 45:
			return "release", c
		case draw < 50:
			c.To = workload.HolderName(s.r.IntN(processes))
			return "release", c
		case draw < 60:
			return "get", struct{}{}
		case draw < 70:
			return "load", uint64(claimTail)
		default:
			return "write", FencedWrite{Name: fmt.Sprint(n), Epoch: epoch, Value: s.r.IntN(3) == 0}
		}
	}
	run.Heard = func(_ int, out any) {
		if seen, is := out.(Seen); is && seen.Epoch > 0 {
			epochs = append(epochs, seen.Epoch)
		}
	}
	return run.History("c")
}

func TestClaimPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 300) }
	workloadtest.TellsApart(t, New, run, 12, spoilWrite)
}

// spoilWrite moves an applied write to an older epoch, like that of a stale holder,
// and describes the change.
func spoilWrite(r *rand.Rand, h *history.History) string {
	var epochs []uint64
	for _, op := range h.Ops {
		if out, err := history.Decode[Seen](op.Out); op.Call == "take" && err == nil && out.Epoch > 0 {
			epochs = append(epochs, out.Epoch)
		}
	}
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		if op.Call != "write" || op.Outcome != history.OK {
			continue
		}
		in, err := history.Decode[FencedWrite](op.In)
		if err != nil {
			panic(err)
		}
		if place := slices.Index(epochs, in.Epoch); place > 0 {
			in.Epoch = epochs[place-1]
			op.In = workloadtest.Raw(in)
			return fmt.Sprintf("an older epoch in call %d", op.ID)
		}
	}
	return ""
}

func BenchmarkClaimCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 1000) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, workloadtest.Named("c"), run))
}
