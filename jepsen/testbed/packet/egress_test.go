package packet_test

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"
	"time"

	"dormouse/jepsen/testbed/packet"
)

const (
	ms    = time.Millisecond
	raft  = packet.Class(1)
	other = packet.Class(2)
)

// arrival is a numbered packet that was delivered.
type arrival struct {
	at     time.Duration
	number uint32
}

// transit sends n numbered packets, a millisecond apart, and returns those that were
// delivered, with their times.
func transit(l packet.Link, n int) []arrival {
	var out []arrival
	var now time.Duration
	s := packet.NewSender(l, func(p []byte) { out = append(out, arrival{now, binary.BigEndian.Uint32(p)}) })
	for i := range n {
		at := time.Duration(i) * ms
		for due := s.Next(); due != 0 && due <= at; due = s.Next() {
			now = due
			s.Arrive(now)
		}
		now = at
		s.Send(now, packet.All, binary.BigEndian.AppendUint32(nil, uint32(i)))
	}
	for due := s.Next(); due != 0; due = s.Next() {
		now = due
		s.Arrive(now)
	}
	return out
}

func numbers(out []arrival) []uint32 {
	var n []uint32
	for _, a := range out {
		n = append(n, a.number)
	}
	return n
}

func TestASoundLinkDeliversAtOnce(t *testing.T) {
	for i, a := range transit(packet.Link{}, 100) {
		if a != (arrival{time.Duration(i) * ms, uint32(i)}) {
			t.Fatalf("packet %d came out as %v", i, a)
		}
	}
}

func TestACutLinkDeliversNothing(t *testing.T) {
	if out := transit(packet.Link{Cut: true, Duplicate: 1, Reorder: 1}, 100); out != nil {
		t.Fatalf("delivered %v", out)
	}
}

func TestDelayAndJitterKeepTheOrder(t *testing.T) {
	out := transit(packet.Link{Delay: 50 * ms, Jitter: 20 * ms}, 1000)
	if got := numbers(out); len(got) != 1000 || !slices.IsSorted(got) {
		t.Fatalf("%d of 1000 packets came out, sorted: %v", len(got), slices.IsSorted(got))
	}
	fast, slow := time.Hour, time.Duration(0)
	for _, a := range out {
		took := a.at - time.Duration(a.number)*ms
		fast, slow = min(fast, took), max(slow, took)
	}
	if fast < 50*ms || fast > 53*ms || slow > 70*ms || slow < 67*ms {
		t.Errorf("packets took %v to %v, want 50 to 70 ms", fast, slow)
	}
}

func TestLossAndDuplicationAreAsOftenAsSaid(t *testing.T) {
	const n = 20_000
	if got := len(transit(packet.Link{Loss: 0.3}, n)); got < n*67/100 || got > n*73/100 {
		t.Errorf("%d of %d packets survived a loss of 0.3", got, n)
	}
	out := numbers(transit(packet.Link{Duplicate: 0.2}, n))
	if len(out) < n*118/100 || len(out) > n*122/100 {
		t.Errorf("%d packets became %d, with 0.2 of them doubled", n, len(out))
	}
	if !slices.IsSorted(out) || len(slices.Compact(out)) != n {
		t.Error("doubling lost packets or their order")
	}
}

func TestReorderedPacketsAreOvertaken(t *testing.T) {
	const n = 10_000
	for _, l := range []packet.Link{{Reorder: 0.1}, {Reorder: 0.1, Delay: 30 * ms}} {
		out := numbers(transit(l, n))
		late := 0
		for i := range out[1:] {
			if out[i+1] < out[i] {
				late++
			}
		}
		if len(out) != n || late < n/20 || late > n/5 {
			t.Errorf("%+v: %d of %d packets came out, %d of them late", l, len(out), n, late)
		}
	}
}

func TestCorruptionFlipsOneBit(t *testing.T) {
	sent := bytes.Repeat([]byte{0x55}, 100)
	var got []byte
	s := packet.NewSender(packet.Link{Corrupt: 1}, func(p []byte) { got = p })
	s.Send(0, packet.All, slices.Clone(sent))
	flipped := 0
	for i := range sent {
		flipped += bits.OnesCount8(sent[i] ^ got[i])
	}
	if flipped != 1 {
		t.Errorf("%d bits are flipped", flipped)
	}
}

func TestClassesDifferAndAddUp(t *testing.T) {
	var out []byte
	s := packet.NewSender(packet.Link{Delay: 10 * ms}, func(p []byte) { out = append(out, p...) })
	s.Set(raft, packet.Link{Delay: 5 * ms})
	s.Set(other, packet.Link{Cut: true})
	s.Send(1, raft, []byte("r"))
	s.Send(2, packet.All, []byte("a"))
	s.Send(3, other, []byte("o"))
	for _, step := range []struct {
		at   time.Duration
		want string
	}{{10 * ms, ""}, {10*ms + 2, "a"}, {15*ms + 1, "ar"}, {time.Hour, "ar"}} {
		if s.Arrive(step.at); string(out) != step.want {
			t.Errorf("at %v there was %q, want %q", step.at, out, step.want)
		}
	}
	s.Set(packet.All, packet.Link{})
	s.Set(other, packet.Link{})
	if s.Send(time.Hour, other, []byte("o")); string(out) != "aro" {
		t.Errorf("after healing there was %q", out)
	}
}

func TestHealingKeepsTheOrderOfWhatIsUnderWay(t *testing.T) {
	var out []byte
	s := packet.NewSender(packet.Link{Delay: time.Second}, func(p []byte) { out = append(out, p...) })
	s.Send(0, raft, []byte("1"))
	s.Set(packet.All, packet.Link{})
	s.Send(500*ms, raft, []byte("2"))
	s.Send(600*ms, other, []byte("x")) // nothing of its class is under way
	if s.Arrive(time.Second); string(out) != "x12" {
		t.Errorf("came out as %q", out)
	}
	if s.Send(time.Second, raft, []byte("3")); string(out) != "x123" {
		t.Errorf("came out as %q", out)
	}
}

func TestWhatIsUnderWayIsBounded(t *testing.T) {
	const size = 1 << 16
	count := 0
	s := packet.NewSender(packet.Link{Delay: time.Second}, func([]byte) { count++ })
	big := make([]byte, size)
	for range 2 * packet.QueueMax / size {
		s.Send(1, packet.All, big)
	}
	if s.Arrive(time.Hour); count < packet.QueueMax/size*9/10 || count > packet.QueueMax/size {
		t.Errorf("%d packets of %d bytes were under way, with room for %d bytes", count, size, packet.QueueMax)
	}
	s.Send(2*time.Hour, packet.All, big)
	if s.Next() == 0 {
		t.Error("no room although everything has arrived")
	}
}

func TestASoundLinkAllocatesNothing(t *testing.T) {
	s := packet.NewSender(packet.Link{}, func([]byte) {})
	p := make([]byte, 1500)
	if n := testing.AllocsPerRun(1000, func() { s.Send(1, raft, p) }); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
	var now time.Duration
	s.Set(raft, packet.Link{Delay: ms})
	if n := testing.AllocsPerRun(1000, func() {
		now += 10 * ms
		s.Arrive(now)
		s.Send(now, raft, p)
	}); n != 0 {
		t.Errorf("%v allocations for a packet that is delayed", n)
	}
}
