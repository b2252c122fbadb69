package instance

import (
	"dormouse/agent"
)

// Bounds of what an instance under DurabilityIdle keeps in memory alone. Past
// them it is saved before it takes another turn.
const (
	pendingMax      = 512     // entries
	pendingBytesMax = 1 << 20 // …of them
	recentMax       = 32      // answers that are kept for signals sent again
)

// recent is an answer that is not on record.
type recent struct {
	client string
	seq    uint64
	hash   uint64
	reply  agent.Reply
}

// recall is the answer that a signal got in this awakening, where it is not on
// record; nil where there is none.
func (i *instance) recall(s agent.Signal) (*agent.Reply, error) {
	if i.body.rare == nil {
		return nil, nil
	}
	for at := range i.body.rare.recent {
		r := &i.body.rare.recent[at]
		if r.client != s.Request.Client || r.seq != s.Request.Seq {
			continue
		}
		if r.hash != s.Hash(i.ref()) {
			return nil, agent.Errorf(agent.CodeIdempotencyMismatch, "request %d of client %q was another signal", r.seq, r.client)
		}
		return &r.reply, nil
	}
	return nil, nil
}

// remember makes a turn's changes the instance's in memory alone: until it
// hibernates, or for good where nothing of it is stored.
func (h *Host) remember(i *instance, service agent.Service, t *Turn) (agent.Reply, error) {
	if err := h.stands(i); err != nil {
		h.unlive(i)
		return agent.Reply{}, err
	}
	if t.wrote() {
		if err := h.fits(i, t); err != nil {
			return agent.Reply{}, err
		}
		r := i.more()
		bytes := draftBytes(t.entries)
		if service != nil && (len(r.pending)+len(t.entries) > pendingMax || r.bytes+bytes > pendingBytesMax) && r.dirty {
			if err := h.save(i, lifecycleTurn); err != nil {
				h.unlive(i)
				return agent.Reply{}, err
			}
			r = i.more()
		}
		i.body.state = t.state
		if service == nil {
			h.mu.Lock()
			i.stored.rev += uint64(len(t.entries))
			h.mu.Unlock()
		} else {
			r.dirty, r.pending, r.bytes = true, append(r.pending, t.entries...), r.bytes+bytes
		}
	}
	reply := h.replied(i, t, false)
	if q := t.signal.Request; q.Client != "" {
		r := i.more()
		if len(r.recent) == recentMax {
			r.recent = append(r.recent[:0], r.recent[1:]...)
		}
		r.recent = append(r.recent, recent{q.Client, q.Seq, t.signal.Hash(i.ref()), reply})
	}
	return reply, nil
}

// fits tells whether what a turn leaves could be stored.
func (h *Host) fits(i *instance, t *Turn) error {
	ops, err := h.storing(i, t.entries, t.state, lifecycleTurn)
	if err != nil {
		return err
	}
	c := agent.Commit{Scope: i.family.scope, Ops: ops}
	if err := c.Validate(); err != nil {
		return t.unfit(err)
	}
	return nil
}

func draftBytes(drafts []agent.Draft) (bytes int) {
	for _, d := range drafts {
		bytes += len(d.ID) + len(d.Kind) + len(d.Payload) + len(d.Refs)
	}
	return bytes
}
