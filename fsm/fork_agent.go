package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/command"
	"dormouse/fsm/erasure"
	"dormouse/fsm/kv"
	"dormouse/fsm/memory"
	"dormouse/fsm/session"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

func forkAgent(c *txn.Tx, op *agent.ForkAgent) (agent.OpResult, error) {
	source, err := forkSource(c, op)
	if err != nil {
		return nil, err
	}
	if err := vacantAgent(c, op); err != nil {
		return nil, err
	}
	raw, err := c.Rows.Get(kv.BodyKey(c.Scope, op.Agent, source))
	if err != nil {
		return nil, err
	}
	body, err := checkpoint.DecodeBody(op.Agent, raw)
	if err != nil {
		return nil, err
	}
	forked := &agent.ForkedAgent{}
	if forked.Session, err = forkAgentSession(c, op, source.Thread); err != nil {
		return nil, err
	}
	pointer, thread, err := forkPointed(c, op, source.Thread)
	if err != nil {
		return nil, err
	}
	if thread != nil {
		forked.Thread = thread
	} else if forked.Session != nil && source.Thread == nil {
		if forked.Thread, err = forkSessionThread(c, op); err != nil {
			return nil, err
		}
	}
	row := &logpb.CheckpointRow{Version: source.Version, Lifecycle: source.Lifecycle, Thread: pointer}
	stored, err := checkpoint.Store(c, op.NewAgent, nil, row, body)
	if err != nil {
		return nil, err
	}
	forked.Checkpoint = *stored.(*agent.CheckpointResult) //nolint:forcetypeassert // checkpoint.Store answers with nothing else
	if !op.WithoutMemory {
		forked.Memories, err = forkMemories(c, op)
	}
	return forked, err
}

// forkSource returns the revision of the checkpoint that is forked.
func forkSource(c *txn.Tx, op *agent.ForkAgent) (*logpb.CheckpointRow, error) {
	now, err := checkpoint.Live(c, op.Agent)
	if err != nil {
		return nil, err
	}
	if now == nil {
		return nil, txn.NotFound("checkpoint", op.Agent)
	}
	if err := txn.Matches(op.Agent, op.IfIncarnation, op.IfRevision, now); err != nil {
		return nil, err
	}
	if op.Revision == 0 || op.Revision == now.Revision {
		return now, nil
	}
	then, err := checkpoint.StoredRevision(c, op.Agent, now, op.Revision)
	if err != nil {
		return nil, err
	}
	if then == nil || txn.Expired(then.ForgetAt, c.Progress.Wall) {
		oldest, err := oldestKept(c, op.Agent, now)
		if err != nil {
			return nil, err
		}
		return nil, checkpoint.NotKept(op.Agent, op.Revision, oldest, now.Revision)
	}
	return then, nil
}

// oldestKept returns the oldest revision of a checkpoint that has not expired by age.
func oldestKept(c *txn.Tx, key string, now *logpb.CheckpointRow) (uint64, error) {
	for n := uint64(len(now.Kept)); n > 0; n-- {
		row, err := checkpoint.StoredRevision(c, key, now, now.Revision-n)
		if err != nil {
			return 0, err
		}
		if !txn.Expired(row.GetForgetAt(), c.Progress.Wall) {
			return now.Revision - n, nil
		}
	}
	return now.Revision, nil
}

// vacantAgent returns an error if the target of a fork exists.
func vacantAgent(c *txn.Tx, op *agent.ForkAgent) error {
	there, err := checkpoint.Live(c, op.NewAgent)
	if err != nil {
		return err
	}
	whole, err := erasure.Remembered(c, op.NewAgent)
	if err != nil {
		return err
	}
	if there != nil || whole.Entries > 0 {
		e := agent.Errorf(agent.CodeAlreadyExists, "there is an agent %q already, with %d memories: choose another id, or erase it", op.NewAgent, whole.Entries)
		e.Revision, e.Incarnation = there.GetRevision(), there.GetIncarnation()
		return e
	}
	if err := txn.CheckNotErased(c, op.NewAgent); err != nil {
		return err
	}
	return c.CheckWritable(kv.KindCheckpointTombstone, op.NewAgent, 0, 0)
}

// forkPointed forks the thread that the checkpoint points to, at that rev. The pointer is nil if
// there is none to fork.
func forkPointed(c *txn.Tx, op *agent.ForkAgent, p *logpb.Pointer) (*logpb.Pointer, *agent.Thread, error) {
	if p == nil {
		return nil, nil, nil
	}
	if p.Incarnation == 0 { // of an agent without messages: see point
		return &logpb.Pointer{Thread: op.NewThread, Head: thread.ZeroHead}, nil, thread.CheckVacant(c, op.NewThread)
	}
	t, err := thread.Load(c, p.Thread)
	switch {
	case err != nil:
		return nil, nil, err
	case t == nil:
		return nil, nil, checkpoint.MissingThread(p.Thread)
	case t.Incarnation != p.Incarnation:
		return nil, nil, checkpoint.ThreadMismatch(t, "it was deleted and created again since")
	}
	thread, err := forkedThread(c, &agent.ForkThread{Thread: p.Thread, NewThread: op.NewThread, AtRev: &p.Rev})
	if err != nil {
		return nil, nil, err
	}
	return &logpb.Pointer{
		Thread: thread.ID, Rev: thread.Rev, Head: thread.Head[:], Incarnation: thread.Incarnation,
	}, thread, nil
}

func forkedThread(c *txn.Tx, op *agent.ForkThread) (*agent.Thread, error) {
	result, err := thread.Fork(c, op)
	if err != nil {
		return nil, err
	}
	return &result.(*agent.ThreadResult).Thread, nil //nolint:forcetypeassert // thread.Fork answers with nothing else
}

// forkAgentSession forks the session that op names, if any.
func forkAgentSession(c *txn.Tx, op *agent.ForkAgent, p *logpb.Pointer) (*agent.SessionRow, error) {
	if op.Session == "" {
		return nil, nil
	}
	source, err := session.Load(c, op.Session)
	if err != nil {
		return nil, err
	}
	thread := source.Row.Settings.Thread
	switch {
	case source.Row.Agent != op.Agent:
		return nil, agent.Invalid("session", "session %q is of agent %q, not of %q: name one of its own", op.Session, source.Row.Agent, op.Agent)
	case thread != "" && p != nil && thread != p.Thread:
		return nil, agent.Invalid("session", "session %q has thread %q, and the checkpoint points to %q: fork the session by itself", op.Session, thread, p.Thread)
	}
	fork, err := session.NewFork(c, &agent.ForkSession{Session: op.Session, NewSession: op.NewSession})
	if err != nil {
		return nil, err
	}
	fork.Row.Agent = op.NewAgent
	if thread != "" {
		fork.Row.Settings.Thread = op.NewThread
	}
	if source.Row.Settings.Checkpoint == op.Agent {
		fork.Row.Settings.Checkpoint = op.NewAgent // the source's other checkpoint stays with the source
	}
	result, err := session.Stored(c, fork)
	if err != nil {
		return nil, err
	}
	return &result.Session, nil
}

// forkSessionThread forks the thread that only the session names. It does not create a missing
// thread.
func forkSessionThread(c *txn.Tx, op *agent.ForkAgent) (*agent.Thread, error) {
	s, err := session.Load(c, op.Session)
	if err != nil || s.Row.Settings.Thread == "" {
		return nil, err
	}
	t, err := thread.Load(c, s.Row.Settings.Thread)
	if err != nil || t == nil {
		return nil, err
	}
	return forkedThread(c, &agent.ForkThread{Thread: t.Id, NewThread: op.NewThread})
}

// forkMemories copies the agent's memories in the order of writing. All copies have the same
// incarnation: it only has to differ from those of the same id, and each id is the new agent's
// first.
func forkMemories(c *txn.Tx, op *agent.ForkAgent) (uint64, error) {
	whole, err := erasure.Remembered(c, op.Agent)
	if err != nil {
		return 0, err
	}
	if err := forkMemoriesFit(op.Agent, whole); err != nil || whole.Entries == 0 {
		return 0, err
	}
	prefix := kv.IDKey(kv.KindMemoryOrder, c.Scope, op.Agent)
	keys, _, err := c.Rows.Keys(prefix, kv.After(prefix), agent.ForkMemoriesMax)
	if err != nil {
		return 0, err
	}
	to := &memory.Work{Tx: c, Agent: op.NewAgent, Whole: &logpb.MemoryAgentRow{Life: c.NewIncarnation()}}
	for _, key := range keys {
		id, err := c.Rows.Get(key)
		if err != nil {
			return 0, err
		}
		to.Id = string(id)
		if err := forkMemory(c, op, to); err != nil {
			return 0, err
		}
	}
	if to.Whole.Entries == 0 {
		return 0, nil
	}
	if err := c.CountAgent(kv.IDKey(kv.KindMemoryAgent, c.Scope, op.NewAgent), 1); err != nil {
		return 0, err
	}
	return to.Whole.Entries, to.StoreAgent()
}

func forkMemoriesFit(name string, whole *logpb.MemoryAgentRow) error {
	const hint = "agent %q remembers too much to be copied in one commit: fork it without memory, and write what is needed"
	var e *agent.Error
	switch {
	case whole.Entries > agent.ForkMemoriesMax:
		e = agent.TooLarge("agent", "fork_memories_max", int(whole.Entries), agent.ForkMemoriesMax)
	case whole.Bytes > agent.ForkMemoryBytesMax:
		e = agent.TooLarge("agent", "fork_memory_bytes_max", int(whole.Bytes), agent.ForkMemoryBytesMax)
	default:
		return nil
	}
	e.Detail = fmt.Sprintf(hint, name) + ": " + e.Detail
	return e
}

// forkMemory appends a copy of one memory to another agent's. It skips expired memories.
func forkMemory(c *txn.Tx, op *agent.ForkAgent, to *memory.Work) error {
	raw, err := c.Rows.Get(kv.MemoryKey(kv.KindMemory, c.Scope, op.Agent, to.Id))
	if err != nil {
		return err
	}
	row := &logpb.MemoryRow{}
	if err := command.Unmarshal(raw, row); err != nil {
		return fmt.Errorf("decode memory %q: %w", to.Id, err)
	}
	if txn.Expired(row.ExpiresAt, c.Progress.Wall) {
		return nil
	}
	if raw, err = c.Rows.Get(kv.MemoryKey(kv.KindMemoryBody, c.Scope, op.Agent, to.Id)); err != nil {
		return err
	}
	body, err := command.DecodeMemoryBody(to.Id, raw)
	if err != nil {
		return err
	}
	if err := c.CheckWritableRow(to.Key(kv.KindMemoryTombstone), to.Id, 0, 0); err != nil {
		return err
	}
	whole := to.Whole
	whole.Entries++
	whole.Writes++
	whole.Bytes += row.Size
	if row.Dims > 0 {
		whole.Vectors++
		whole.Dims = row.Dims
	}
	row.Incarnation, row.Revision, row.Order, row.Written = whole.Life, 1, whole.Writes, 0
	if row.Session == op.Session {
		row.Session = op.NewSession
	}
	c.AddUsage(1, int64(row.Size))
	return to.StoreOne(row, body)
}
