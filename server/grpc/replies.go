package grpc

import (
	"runtime"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

// take registers f as in flight. It returns false if the stream accepts no more calls; the caller
// must refuse f.
func (x *exchange) take(f *flight) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.count++
	f.prev, f.next = x.inFlight.prev, &x.inFlight
	f.prev.next, f.next.prev = f, f
	if !x.refusing && f.weight > 0 {
		x.readers.Add(1)
	}
	return !x.refusing
}

// refuseNew makes take return false from now on.
func (x *exchange) refuseNew() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refusing = true
}

// complete passes f's reply to the writer. Only the first reply counts: a commit may be decided
// after its deadline.
func (x *exchange) complete(f *flight, reply *apipb.Reply) {
	x.completeAll([]completed{{flight: f, reply: reply}})
}

// completeAll passes replies to the writer together, so that they share a frame.
func (x *exchange) completeAll(replies []completed) {
	for i := range replies {
		replies[i].measure()
	}
	x.mu.Lock()
	first := len(x.ready) == 0
	for _, c := range replies {
		x.settle(c)
	}
	first = first && len(x.ready) > 0
	x.mu.Unlock()
	if first {
		x.nudge()
	}
}

// measure sets the size of the reply. A reply that is too large becomes an error: of a commit, which
// has been applied, one that leaves its outcome open.
func (c *completed) measure() {
	if c.size = c.reply.EncodedSize(); c.size <= convert.ReplyBytesMax {
		return
	}
	e := agent.TooLarge("answer", "reply_bytes_max", c.size, convert.ReplyBytesMax)
	if c.reply.GetCommit() != nil {
		e = agent.Errorf(agent.CodeInternal, "the commit was applied, and its %s: use fewer ops in a commit", e.Detail)
	}
	c.fail(e)
}

// fail replaces the reply by an error.
func (c *completed) fail(e *agent.Error) {
	c.reply = &apipb.Reply{Id: c.id, Reply: &apipb.Reply_Error{Error: ops.ErrorToProto(e)}}
	c.size = c.reply.EncodedSize()
}

// settle adds a reply to those that are ready, unless its call has one already. mu is held.
func (x *exchange) settle(c completed) {
	f := c.flight
	if f.settled {
		return
	}
	f.settled = true
	if !x.countReply(f, int64(c.size)) {
		c.fail(overloaded())
	}
	f.prev.next, f.next.prev = f.next, f.prev
	f.prev, f.next = nil, nil
	x.count--
	x.ready = append(x.ready, c)
}

func (x *exchange) nudge() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// send writes replies until the stream ends.
func (x *exchange) send() error {
	var batch []completed
	input, draining := x.input, x.draining.Done()
	var end error   // the status of the stream once no call is in flight
	ending := false // no more calls will begin
	for {
		select {
		case <-x.wake:
			// The commits of one log entry are decided one after another by one goroutine: let it
			// continue, so that they share a frame.
			runtime.Gosched()
		case err := <-input:
			if err != nil {
				return err
			}
			input, ending = nil, true
		case <-draining:
			draining, ending = nil, true
			end = statusOf(errStopping())
			x.refuseNew()
		case <-x.stream.Context().Done():
			return x.stream.Context().Err()
		}
		for {
			x.mu.Lock()
			batch, x.ready = x.ready, batch[:0]
			idle := x.count == 0
			x.mu.Unlock()
			if len(batch) == 0 {
				if ending && idle {
					return end
				}
				break
			}
			if err := x.sendFrames(batch); err != nil {
				return err
			}
			clear(batch) // drops the replies
		}
	}
}

// sendFrames sends replies in frames bounded by number and bytes, and releases the room of their
// calls.
func (x *exchange) sendFrames(batch []completed) error {
	for len(batch) > 0 {
		n, size := 0, 0
		for n < len(batch) && n < convert.FrameCallsMax && (n == 0 || size < convert.FrameBytesMax) {
			if n > 0 && batch[n].size > convert.FrameBytesMax {
				break // is sent alone
			}
			size += batch[n].size
			n++
		}
		frame := &apipb.Replies{Replies: make([]*apipb.Reply, n)}
		for i := range frame.Replies {
			frame.Replies[i] = batch[i].reply
		}
		if err := x.stream.Send(frame); err != nil {
			return err
		}
		x.uncount(batch[:n])
		for _, l := range batch[:n] {
			x.room.Release(l.bytes)
			if l.weight > 0 {
				x.reads.Release(l.weight)
			}
		}
		x.slots.Release(int64(n))
		batch = batch[n:]
	}
	return nil
}
