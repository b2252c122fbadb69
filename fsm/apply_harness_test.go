package fsm_test

import (
	"bytes"
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	apipb "dormouse/proto/api"
	"dormouse/storage"
)

// subject is an in-memory machine to which the test feeds entries, with a simulated clock.
type subject struct {
	tb      testing.TB
	machine *fsm.Machine
	index   uint64
	term    uint64
	tick    uint64
	wall    int64
	log     []*raft.Log
	closed  bool
}

// startWall is the start of the subjects' wall time, in Unix ms.
const startWall = 1_000_000

func newSubject(tb testing.TB) *subject {
	tb.Helper()
	return openSubject(tb, fsm.Options{Dir: "state", FS: storage.MemFS()})
}

func openSubject(tb testing.TB, o fsm.Options) *subject {
	tb.Helper()
	if o.Fatal == nil {
		o.Fatal = func(err error) { tb.Fatalf("fatal: %v", err) }
	}
	machine, err := fsm.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	r := &subject{tb: tb, machine: machine, term: 1, tick: 1000, wall: startWall}
	tb.Cleanup(r.close)
	return r
}

// close closes the machine, once.
func (r *subject) close() {
	if r.closed {
		return
	}
	r.closed = true
	if err := r.machine.Close(); err != nil {
		r.tb.Error(err)
	}
}

// encode encodes commits as after request validation.
func (r *subject) encode(commits ...agent.Commit) [][]byte {
	r.tb.Helper()
	encoded := make([][]byte, len(commits))
	for i := range commits {
		c := commits[i]
		if err := c.Validate(); err != nil {
			r.tb.Fatalf("commit %d: %v", i, err)
		}
		notAfter := uint64(0)
		if c.Request.Client != "" {
			ttl := c.Request.TTL
			if ttl == 0 {
				ttl = agent.RequestTTLDefault
			}
			notAfter = r.tick + uint64(ttl.Milliseconds())
		}
		raw, err := command.EncodeCommit(&c, notAfter)
		if err != nil {
			r.tb.Fatal(err)
		}
		encoded[i] = raw
	}
	return encoded
}

// feed applies one entry of encoded commits.
func (r *subject) feed(encoded [][]byte) []agent.Decided {
	r.tb.Helper()
	r.index++
	return r.replay(&raft.Log{Type: raft.LogCommand, Index: r.index, Term: r.term, Data: r.machine.Pack(r.index, r.term, r.tick, r.wall, encoded)})
}

func (r *subject) replay(entry *raft.Log) []agent.Decided {
	r.tb.Helper()
	r.log = append(r.log, entry)
	decided, ok := r.machine.Apply(entry).([]agent.Decided)
	if !ok {
		r.tb.Fatalf("entry %d was not decided", entry.Index)
	}
	return decided
}

// batch applies commits in one entry.
func (r *subject) batch(commits ...agent.Commit) []agent.Decided {
	r.tb.Helper()
	return r.feed(r.encode(commits...))
}

// try applies one commit of some ops.
func (r *subject) try(ops ...agent.Op) (agent.Result, *agent.Error) {
	r.tb.Helper()
	d := r.batch(agent.Commit{Ops: ops})[0]
	return d.Result, d.Err
}

// do applies ops that must succeed, and returns the last one's result.
func do[R agent.OpResult](r *subject, ops ...agent.Op) R {
	r.tb.Helper()
	result, err := r.try(ops...)
	if err != nil {
		r.tb.Fatalf("%T: %v", ops[len(ops)-1], err)
	}
	out, ok := result.Results[len(ops)-1].(R)
	if !ok {
		r.tb.Fatalf("%T answers %T", ops[len(ops)-1], result.Results[len(ops)-1])
	}
	return out
}

// refusal applies ops that must be refused with a code, at the last op.
func (r *subject) refusal(code agent.Code, ops ...agent.Op) *agent.Error {
	r.tb.Helper()
	_, err := r.try(ops...)
	if err == nil {
		r.tb.Fatalf("%T was not refused", ops[len(ops)-1])
	}
	if err.Code != code || !err.Final {
		r.tb.Fatalf("%T was refused with %q (final: %t): %v; want %q", ops[len(ops)-1], err.Code, err.Final, err, code)
	}
	if err.Op != len(ops)-1 {
		r.tb.Fatalf("op %d was refused, want %d", err.Op, len(ops)-1)
	}
	return err
}

// refuse is refusal without a result.
func (r *subject) refuse(code agent.Code, ops ...agent.Op) {
	r.tb.Helper()
	_ = r.refusal(code, ops...)
}

// after advances the log's time.
func (r *subject) after(d time.Duration) *subject {
	r.tick += uint64(d.Milliseconds())
	r.wall += d.Milliseconds()
	return r
}

// answer answers one read now.
func (r *subject) answer(q agent.Read) agent.Answer {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	answer := view.Answer("", q)
	if thaw, ok := q.(*agent.Thaw); ok {
		encoded := *thaw
		encoded.Encoded = true
		r.sameThaw(answer, view.Answer("", &encoded))
	}
	return answer
}

// sameThaw checks that a thaw whose entries are encoded equals one whose entries are decoded.
func (r *subject) sameThaw(decoded, encoded agent.Answer) {
	r.tb.Helper()
	if decoded.Err != nil {
		if !reflect.DeepEqual(encoded, decoded) {
			r.tb.Fatalf("encoded, a thaw answers %+v, %v, and decoded %v", encoded.Found, encoded.Err, decoded.Err)
		}
		return
	}
	if encoded.Err != nil {
		r.tb.Fatalf("encoded, a thaw is refused: %v", encoded.Err)
	}
	want, got := *decoded.Found.(*agent.Thawed), *encoded.Found.(*agent.Thawed)
	message := &apipb.Thawed{}
	for _, e := range want.Entries {
		message.Entries = append(message.Entries, &apipb.Entry{
			Id: e.ID, Seq: e.Seq, At: e.At, Kind: e.Kind, Payload: e.Payload, Refs: e.Refs, ContentType: e.ContentType, Bytes: e.Bytes,
		})
	}
	if raw := message.Encode(); !bytes.Equal(raw, got.Encoded) || got.Entries != nil {
		r.tb.Fatalf("a thaw has the entries %x, encoded %x", raw, got.Encoded)
	}
	want.Entries, got.Encoded = nil, nil
	if !reflect.DeepEqual(got, want) {
		r.tb.Fatalf("encoded, a thaw is %+v, and decoded %+v", got, want)
	}
}

// read answers a read that must find something.
func read[F agent.Found](r *subject, q agent.Read) F {
	r.tb.Helper()
	a := r.answer(q)
	if a.Err != nil {
		r.tb.Fatalf("%T: %v", q, a.Err)
	}
	found, ok := a.Found.(F)
	if !ok {
		r.tb.Fatalf("%T answers %T", q, a.Found)
	}
	return found
}

// missing checks that a read fails with a code.
func (r *subject) missing(code agent.Code, q agent.Read) {
	r.tb.Helper()
	a := r.answer(q)
	if a.Err == nil || a.Err.Code != code {
		r.tb.Fatalf("%T answers %+v and error %v; want %q", q, a.Found, a.Err, code)
	}
}

// hash returns the hash over all rows.
func (r *subject) hash() string {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	hash, err := view.StateHash(context.Background())
	if err != nil {
		r.tb.Fatal(err)
	}
	return hash
}

func ptr[T any](v T) *T { return &v }

func drafts(payloads ...string) []agent.Draft {
	out := make([]agent.Draft, len(payloads))
	for i, p := range payloads {
		out[i] = agent.Draft{Payload: agent.JSON(p)}
	}
	return out
}

const entryRows = kv.KindEntry

// rows counts the rows of a kind.
func (r *subject) rows(kind string) int {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	n, err := view.RowsOf(kind)
	if err != nil {
		r.tb.Fatal(err)
	}
	return n
}
