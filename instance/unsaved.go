package instance

import (
	"context"
	"slices"

	"dormouse/agent"
)

// Limits of the changes that an instance under DurabilityIdle keeps in memory.
// The host saves the instance before a turn would exceed them.
const (
	pendingMax      = 512     // unsaved entries
	pendingBytesMax = 1 << 20 // bytes of unsaved entries
	recentMax       = 32      // replies that are kept for repeated signals
)

// recentReply is a reply that is not stored.
type recentReply struct {
	client string
	seq    uint64
	hash   uint64
	reply  agent.Reply
	lossy  bool // its turn's changes are in memory only
}

// repeatable returns the replies that stay if the instance's changes in memory
// are discarded: those of turns that lose nothing.
func (r *extra) repeatable() []recentReply {
	return slices.DeleteFunc(slices.Clone(r.recent), func(one recentReply) bool { return one.lossy })
}

// recentReply returns the reply that a signal got in this run, if it is not
// stored; nil otherwise.
func (i *instance) recentReply(s agent.Signal) (*agent.Reply, error) {
	if i.body.extra == nil {
		return nil, nil
	}
	for at := range i.body.extra.recent {
		r := &i.body.extra.recent[at]
		if r.client != s.Request.Client || r.seq != s.Request.Seq {
			continue
		}
		if r.hash != s.Hash(i.ref()) {
			return nil, agent.Errorf(agent.CodeIdempotencyMismatch, "request %d of client %q was another signal: use a new request id", r.seq, r.client)
		}
		return &r.reply, nil
	}
	return nil, nil
}

// keepInMemory applies a turn's changes in memory only. The next save stores
// them; without a store they last until the instance hibernates.
func (rn *runner) keepInMemory(i *instance, service agent.Service, t *Turn) (agent.Reply, error) {
	if err := rn.store.checkActive(i); err != nil {
		rn.resetHandler(i)
		return agent.Reply{}, err
	}
	if t.hasWrites() {
		if err := rn.checkStorable(i, t); err != nil {
			return agent.Reply{}, err
		}
		if err := rn.checkNew(i, service, t.entries); err != nil {
			rn.resetHandler(i)
			return agent.Reply{}, err
		}
		r := i.ensureExtra()
		bytes := draftBytes(t.entries)
		if service != nil && (len(r.pending)+len(t.entries) > pendingMax || r.bytes+bytes > pendingBytesMax) && r.dirty {
			if err := rn.store.save(i, lifecycleTurn); err != nil {
				rn.resetHandler(i)
				return agent.Reply{}, err
			}
			r = i.ensureExtra()
		}
		i.body.state = t.state
		if service == nil {
			rn.mu.Lock()
			i.stored.rev += uint64(len(t.entries))
			rn.mu.Unlock()
		} else {
			r.dirty, r.pending, r.bytes = true, append(r.pending, t.entries...), r.bytes+bytes
		}
	}
	reply := rn.reply(i, t, false)
	if q := t.signal.Request; q.Client != "" {
		r := i.ensureExtra()
		if len(r.recent) == recentMax {
			r.recent = append(r.recent[:0], r.recent[1:]...)
		}
		r.recent = append(r.recent, recentReply{q.Client, q.Seq, t.signal.Hash(i.ref()), reply, t.hasWrites()})
	}
	return reply, nil
}

// checkStorable returns an error if a turn's changes could not be stored.
func (rn *runner) checkStorable(i *instance, t *Turn) error {
	ops, err := rn.store.saveOps(i, t.entries, t.state, lifecycleTurn)
	if err != nil {
		return err
	}
	c := agent.Commit{Scope: i.manager.scope, Ops: ops}
	if err := c.Validate(); err != nil {
		return t.rejectChange(err)
	}
	return nil
}

// checkNew returns an error if an entry has the id of another one of its turn, of an unsaved turn, or of
// the thread. Such a turn must not be answered: the save would be refused, and lose all unsaved turns.
func (rn *runner) checkNew(i *instance, service agent.Service, entries []agent.Draft) error {
	ids := map[string]bool{}
	var reads []agent.Read
	for _, e := range entries {
		switch {
		case e.ID == "":
		case ids[e.ID]:
			return duplicateEntry()
		default:
			ids[e.ID] = true
			reads = append(reads, &agent.GetEntry{Thread: i.ref().Checkpoint(), Entry: e.ID})
		}
	}
	if len(ids) == 0 || service == nil {
		return nil
	}
	if r := i.body.extra; r != nil && slices.ContainsFunc(r.pending, func(e agent.Draft) bool { return ids[e.ID] }) {
		return duplicateEntry()
	}
	if i.stored.threadIncarnation == 0 {
		return nil
	}
	return rn.store.withTimeout(i, func(ctx context.Context) error {
		for some := range slices.Chunk(reads, agent.ReadsMax) {
			answers, err := service.Read(ctx, agent.Reads{Scope: i.manager.scope, Stale: true, MinIndex: i.stored.index, Reads: some})
			if err != nil {
				return unavailable(ctx, err)
			}
			for _, a := range answers.Answers {
				switch {
				case a.Err == nil, a.Err.Code == agent.CodeCompacted:
					return duplicateEntry()
				case a.Err.Code != agent.CodeNotFound:
					return a.Err
				}
			}
		}
		return nil
	})
}

func duplicateEntry() error {
	return agent.Errorf(agent.CodeDuplicateEntry, "the thread already has an entry with the id of one of the turn's entries")
}

func draftBytes(drafts []agent.Draft) (bytes int) {
	for i := range drafts {
		bytes += drafts[i].Size()
	}
	return bytes
}
