package grpc

import (
	"context"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/internal/budget"
	"dormouse/internal/tracing"
	apipb "dormouse/proto/api"
)

// Fast reads of one frame are answered together: one goroutine, one barrier, one view. Separately,
// each would cost three times as much as the lookup itself.

// readBatchMax bounds how many are answered sequentially, so that a frame's reads use several
// cores.
const readBatchMax = 32

// readBatch is a set of calls that are answered at one index.
type readBatch struct {
	agent.Reads
	window *window
	trace  tracing.Context // of its one call, if that has one
	calls  []batchedCall
}

// batchedCall is one call in a batch.
type batchedCall struct {
	*flight
	reads int // how many of the batch's reads belong to it
}

func weigh(r *apipb.ReadRequest) int64 {
	var weight int64
	for _, read := range r.Reads {
		switch read.GetRead().(type) {
		case *apipb.Read_GetValue, *apipb.Read_GetCheckpoint, *apipb.Read_GetThread, *apipb.Read_GetEntry, *apipb.Read_GetScope,
			*apipb.Read_GetClaim, *apipb.Read_GetMemory, *apipb.Read_GetSession, *apipb.Read_GetReview, *apipb.Read_GetTimer:
			weight++
		default:
			weight += pageReadWeight
		}
	}
	return max(1, min(weight, readWeightMax))
}

// read adds one call to the batch, or answers it alone if it is slow. take has counted it among the
// readers.
func (x *exchange) read(f *flight, req *apipb.ReadRequest, trace tracing.Context) {
	r, err := convert.ReadsFromProto(req)
	if err == nil {
		err = r.Validate() // here, so that it is refused alone
	}
	if err != nil {
		x.refuse(f, errorOf(err, false))
		x.readers.Done()
		return
	}
	for _, read := range r.Reads {
		if thaw, ok := read.(*agent.Thaw); ok {
			thaw.Encoded = true
		}
	}
	traced := trace.Parent != "" // it has a span of its own
	if x.batch != nil && (traced || !x.batch.fits(f, &r)) {
		x.flush()
	}
	if x.batch == nil {
		x.batch = &readBatch{Reads: agent.Reads{Scope: r.Scope, Stale: r.Stale, MinIndex: r.MinIndex}, window: f.window, trace: trace}
	}
	x.batch.Reads.Reads = append(x.batch.Reads.Reads, r.Reads...)
	x.batch.calls = append(x.batch.calls, batchedCall{f, len(r.Reads)})
	if traced || f.weight >= pageReadWeight || len(x.batch.Reads.Reads) >= readBatchMax {
		x.flush()
	}
}

// fits reports whether f's reads may be answered at the batch's index.
func (b *readBatch) fits(f *flight, r *agent.Reads) bool {
	return f.weight < pageReadWeight && f.window == b.window &&
		r.Scope == b.Scope && r.Stale == b.Stale && r.MinIndex == b.MinIndex &&
		len(b.Reads.Reads)+len(r.Reads) <= agent.ReadsMax
}

// flush starts to answer the batch, on a goroutine that has answered others if one is idle.
func (x *exchange) flush() {
	b := x.batch
	if b == nil {
		return
	}
	x.batch = nil
	select {
	case x.toRead <- b:
	default:
		go x.answerBatches(b)
	}
}

// idleReadersMax is how many goroutines of a stream wait for another batch: as many as answer reads
// with long answers at once.
const idleReadersMax = readWeightMax / pageReadWeight

// answerBatches answers a batch, and then others until enough goroutines are idle or the stream has
// ended. A new goroutine would grow its stack again for each batch: a sixteenth of the CPU of
// reads with long answers.
func (x *exchange) answerBatches(b *readBatch) {
	for more := true; more; {
		x.answerBatch(b)
		if x.idleReaders.Add(1) > idleReadersMax {
			x.idleReaders.Add(-1)
			return
		}
		b, more = <-x.toRead
		x.idleReaders.Add(-1)
	}
}

// answerBatch answers a batch.
func (x *exchange) answerBatch(b *readBatch) {
	defer x.readers.Add(-len(b.calls))
	defer func() {
		if v := recover(); v != nil {
			e := x.panicked("Exchange read", v)
			for _, call := range b.calls {
				x.refuse(call.flight, e) // calls that have their reply keep it
			}
		}
	}()
	ctx, work := budget.WithWork(tracing.With(b.window.ctx, b.trace), x.bytes, x.caller)
	defer work.Done()
	answers, err := x.service.Read(ctx, b.Reads)
	if err == nil && len(answers.Answers) != len(b.Reads.Reads) {
		err = agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(b.Reads.Reads), len(answers.Answers))
	}
	if len(b.calls) > 1 && agent.CodeOf(err) == agent.CodeTooLarge {
		x.answerAlone(ctx, b)
		return
	}
	if err != nil {
		for _, call := range b.calls {
			x.refuse(call.flight, errorOf(err, false))
		}
		return
	}
	first := 0
	replies := make([]completed, 0, len(b.calls))
	for _, call := range b.calls {
		own := answers
		own.Answers = answers.Answers[first : first+call.reads : first+call.reads]
		number(own.Answers, first)
		first += call.reads
		reply := &apipb.Reply{Id: call.id, Reply: &apipb.Reply_Read{Read: convert.AnswersToProto(&own)}}
		replies = append(replies, completed{flight: call.flight, reply: reply})
	}
	x.completeAll(replies)
}

// answerAlone answers the calls of a batch one by one, because their answers are too large together.
func (x *exchange) answerAlone(ctx context.Context, b *readBatch) {
	first := 0
	for _, call := range b.calls {
		own := b.Reads
		own.Reads = b.Reads.Reads[first : first+call.reads : first+call.reads]
		first += call.reads
		answers, err := x.service.Read(ctx, own)
		if err != nil {
			x.refuse(call.flight, errorOf(err, false))
			continue
		}
		x.complete(call.flight, &apipb.Reply{Id: call.id, Reply: &apipb.Reply_Read{Read: convert.AnswersToProto(&answers)}})
	}
}

// number changes the index of a read in errors from the batch's to the call's.
func number(answers []agent.Answer, first int) {
	for i, a := range answers {
		if first > 0 && a.Err != nil && a.Err.Op >= first {
			e := *a.Err
			e.Op -= first
			answers[i].Err = &e
		}
	}
}
