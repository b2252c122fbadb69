package fsm_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/storage"
)

const benchBatch = 256

// benchApply applies entries of benchBatch commits; make returns commit n.
func benchApply(b *testing.B, make func(n uint64) agent.Commit) {
	b.Helper()
	r := openSubject(b, fsm.Options{Dir: b.TempDir(), FS: storage.Disk})
	r.record()
	n := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		commits := []agent.Commit{}
		for range benchBatch {
			commits = append(commits, make(n))
			n++
		}
		r.index++
		entry := &raft.Log{Type: raft.LogCommand, Index: r.index, Term: 1, Data: r.machine.Pack(r.index, 1, r.tick, r.wall, r.encode(commits...))}
		b.StartTimer()
		decided := r.machine.Apply(entry).([]agent.Decided)
		if decided[benchBatch-1].Err != nil {
			b.Fatal(decided[benchBatch-1].Err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/commit")
}

// request is the request id of commit n from a pipelining client: each entry acknowledges the
// answers of the entry before it.
func request(n uint64) agent.Request {
	return agent.Request{Client: "client", Seq: n + 1, Low: n/benchBatch*benchBatch + 1}
}

func BenchmarkApplyAppend300B(b *testing.B) {
	payload := agent.JSON(`{"text":"` + string(bytes.Repeat([]byte("x"), 280)) + `"}`)
	benchApply(b, func(n uint64) agent.Commit {
		return agent.Commit{Request: request(n), Ops: []agent.Op{&agent.AppendThread{
			Thread: fmt.Sprintf("thread-%d", n%5000), ExpectedRev: ptr(n / 5000),
			Entries: []agent.Draft{{Kind: agent.KindMessage, Payload: payload}},
		}}}
	})
}

func BenchmarkApplyPut1KiB(b *testing.B) {
	state := agent.JSON(`{"text":"` + string(bytes.Repeat([]byte("x"), 1010)) + `"}`)
	benchApply(b, func(n uint64) agent.Commit {
		return agent.Commit{Request: request(n), Ops: []agent.Op{&agent.PutCheckpoint{
			Key: fmt.Sprintf("checkpoint-%d", n%5000), State: state,
		}}}
	})
}

func BenchmarkApplyPutValue1KiB(b *testing.B) {
	value := bytes.Repeat([]byte("x"), 1024)
	benchApply(b, func(n uint64) agent.Commit {
		return agent.Commit{Request: request(n), Ops: []agent.Op{&agent.PutValue{
			Key: fmt.Sprintf("value-%d", n%5000), Bytes: value,
		}}}
	})
}

func BenchmarkReadCheckpoint1KiB(b *testing.B) {
	r := openSubject(b, fsm.Options{Dir: b.TempDir(), FS: storage.Disk})
	state := agent.JSON(`{"text":"` + string(bytes.Repeat([]byte("x"), 1010)) + `"}`)
	for n := range 20 {
		commits := []agent.Commit{}
		for k := range 500 {
			commits = append(commits, agent.Commit{Ops: []agent.Op{&agent.PutCheckpoint{Key: fmt.Sprintf("checkpoint-%d", n*500+k), State: state}}})
		}
		r.batch(commits...)
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		view := r.machine.View()
		if a := view.Answer("", &agent.GetCheckpoint{Key: fmt.Sprintf("checkpoint-%d", n*7919%10_000)}); a.Err != nil {
			b.Fatal(a.Err)
		}
		view.Close()
		n++
	}
}

func BenchmarkThaw50Of300B(b *testing.B) {
	b.Run("decoded", func(b *testing.B) { benchmarkThaw(b, false, fsm.Caches{}) })
	b.Run("encoded", func(b *testing.B) { benchmarkThaw(b, true, fsm.Caches{ReadRows: 1}) })
	b.Run("cached", func(b *testing.B) { benchmarkThaw(b, true, fsm.Caches{}) })
}

func benchmarkThaw(b *testing.B, encoded bool, caches fsm.Caches) {
	b.Helper()
	r := openSubject(b, fsm.Options{Dir: b.TempDir(), FS: storage.Disk, Caches: caches})
	state := agent.JSON(`{"text":"` + string(bytes.Repeat([]byte("x"), 2034)) + `"}`)
	payload := agent.JSON(`{"text":"` + string(bytes.Repeat([]byte("x"), 280)) + `"}`)
	const agents = 200
	for n := range agents {
		key := fmt.Sprintf("agent-%d", n)
		drafts := make([]agent.Draft, 50)
		for i := range drafts {
			drafts[i] = agent.Draft{Kind: agent.KindMessage, Payload: payload}
		}
		r.batch(agent.Commit{Ops: []agent.Op{&agent.HibernateThread{Thread: key, Rev: 50, Entries: drafts}}})
		r.batch(agent.Commit{Ops: []agent.Op{&agent.PutCheckpoint{Key: key, State: state, Thread: &agent.Pointer{Thread: key, Rev: 50}}}})
	}
	tail, n := uint64(50), 0
	b.ReportAllocs()
	for b.Loop() {
		view := r.machine.View()
		thaw := &agent.Thaw{Key: fmt.Sprintf("agent-%d", n*7919%agents), Tail: &tail, Encoded: encoded}
		if a := view.Answer("", thaw); a.Err != nil {
			b.Fatal(a.Err)
		}
		view.Close()
		n++
	}
}
