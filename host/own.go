package host

import (
	"context"
	"time"

	"dormouse/cluster/assign"
)

// hedgePart is the part of the time of a request after which another node is asked too.
const hedgePart = 4

// own sends a request to the leader. While the node that leads as far as the host
// knows does not answer, it asks the other ones too: one that fell silent never
// answers, and they know the next leader. The first definite answer counts.
func (h *Host) own(ctx context.Context, r assign.Request) assign.Response {
	r.Node, r.Incarnation, r.Process = h.o.Name, h.transport.Incarnation(), h.transport.Process()
	ctx, cancel := context.WithTimeout(ctx, h.o.times.ask)
	defer cancel()
	hedge := time.NewTicker(h.o.times.ask / hedgePart)
	defer hedge.Stop()
	q := &question{host: h, request: r, answers: make(chan ownAnswer), asking: map[string]bool{}, asked: map[string]bool{}}
	for q.next = h.table.nodes(h.o.Join); ; {
		q.askNext(ctx)
		if len(q.asking) == 0 {
			return assign.Response{} // all nodes have answered, and none leads
		}
		select {
		case a := <-q.answers:
			if q.definite(a) {
				return a.Response
			}
		case <-hedge.C:
			if len(q.next) == 0 { // ask again: another node may lead now
				clear(q.asked)
				q.next = h.table.nodes(h.o.Join)
			}
		case <-ctx.Done():
			return assign.Response{}
		}
	}
}

// question is a request that is sent to one node after another.
type question struct {
	host    *Host
	request assign.Request
	answers chan ownAnswer
	next    []string        // addresses to ask, in order
	asking  map[string]bool // those that have not answered yet
	asked   map[string]bool // all that were asked in this round
}

type ownAnswer struct {
	addr string
	assign.Response
	err error
}

// askNext sends the request to the next node that was not asked in this round.
func (q *question) askNext(ctx context.Context) {
	for len(q.next) > 0 {
		addr := q.next[0]
		q.next = q.next[1:]
		if q.asked[addr] || q.asking[addr] {
			continue
		}
		q.asked[addr], q.asking[addr] = true, true
		go func() {
			answer, err := q.host.pool.Own(ctx, addr, q.request)
			select {
			case q.answers <- ownAnswer{addr, answer, err}:
			case <-ctx.Done():
			}
		}()
		return
	}
}

// definite reports whether an answer ends the request. If another node leads, that
// one is the next to ask.
func (q *question) definite(a ownAnswer) bool {
	delete(q.asking, a.addr)
	switch {
	case a.err != nil:
		q.host.o.Logger.Debug("a node did not answer a lease request", "addr", a.addr, "kind", q.request.Kind, "error", a.err)
	case a.Index != 0 || a.Refused != "":
		q.host.table.setLeader(a.addr)
		return true
	case a.LeaderAddr != "":
		q.next = append([]string{a.LeaderAddr}, q.next...)
	}
	return false
}
