package grpc

import (
	"runtime"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

// take notes that f is in flight; false means that the stream takes no more
// calls, and f is to be refused.
func (x *exchange) take(f *flight) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.count++
	f.prev, f.next = x.flying.prev, &x.flying
	f.prev.next, f.next.prev = f, f
	if !x.refusing && f.weight > 0 {
		x.readers.Add(1)
	}
	return !x.refusing
}

// refuseNew makes take say no from now on.
func (x *exchange) refuseNew() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refusing = true
}

// land hands f's reply to the writer. Only the first reply counts: a commit
// may be decided after its time was up.
func (x *exchange) land(f *flight, reply *apipb.Reply) {
	size := reply.EncodedSize()
	if size > convert.ReplyBytesMax {
		e := agent.TooLarge("answer", "reply_bytes_max", size, convert.ReplyBytesMax)
		reply = &apipb.Reply{Id: f.id, Reply: &apipb.Reply_Error{Error: ops.ErrorToProto(e)}}
		size = reply.EncodedSize()
	}
	x.mu.Lock()
	if f.settled {
		x.mu.Unlock()
		return
	}
	f.settled = true
	f.prev.next, f.next.prev = f.next, f.prev
	f.prev, f.next = nil, nil
	x.count--
	x.ready = append(x.ready, landed{flight: f, reply: reply, size: size})
	first := len(x.ready) == 1
	x.mu.Unlock()
	if first {
		x.nudge()
	}
}

func (x *exchange) nudge() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// send writes replies until the stream ends.
func (x *exchange) send() error {
	var batch []landed
	input, draining := x.input, x.draining.Done()
	var end error   // what the stream ends with once nothing is in flight
	ending := false // no more calls will be begun
	for {
		select {
		case <-x.wake:
			// The commits of one batch are decided one after another by one
			// goroutine: let it go on, so that they share a frame.
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

// sendFrames sends replies in frames bounded by number and bytes, and frees
// the room that their calls held.
func (x *exchange) sendFrames(batch []landed) error {
	for len(batch) > 0 {
		n, size := 0, 0
		for n < len(batch) && n < convert.FrameCallsMax && (n == 0 || size < convert.FrameBytesMax) {
			if n > 0 && batch[n].size > convert.FrameBytesMax {
				break // travels alone
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
		for _, l := range batch[:n] {
			x.bytes.Release(l.bytes)
			if l.weight > 0 {
				x.reads.Release(l.weight)
			}
		}
		x.slots.Release(int64(n))
		batch = batch[n:]
	}
	return nil
}
