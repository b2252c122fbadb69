package grpc

import "context"

// countCall waits until the node has room for a call of n bytes. Like await it first flushes the
// collected reads.
func (x *exchange) countCall(ctx context.Context, n int64) error {
	if !x.bytes.Try(x.caller, n) {
		x.flush()
		if err := x.bytes.Take(ctx, x.caller, n); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		x.bytes.Give(x.caller, n)
		return context.Cause(ctx)
	}
	x.held += n
	return nil
}

// countReply counts a reply until it is sent. It returns false if there is no room for the answer to
// a read. The outcome of a commit must be known, so its reply always has room. mu is held.
func (x *exchange) countReply(f *flight, n int64) bool {
	if x.ended {
		return true
	}
	if f.weight == 0 {
		x.bytes.Force(x.caller, n)
	} else if !x.bytes.Try(x.caller, n) {
		return false
	}
	f.replyBytes = n
	x.held += n
	return true
}

// uncount gives back the bytes of calls whose replies were sent.
func (x *exchange) uncount(sent []completed) {
	var n int64
	for _, c := range sent {
		n += c.bytes + c.replyBytes
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.ended {
		x.held -= n
		x.bytes.Give(x.caller, n)
	}
}

// stopCounting gives back all that is counted: the stream has ended.
func (x *exchange) stopCounting() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	x.bytes.Give(x.caller, x.held)
	x.held = 0
}
