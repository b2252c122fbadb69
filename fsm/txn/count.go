package txn

import (
	"fmt"
	"strings"

	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

// From LimitsLevel on, a scope counts its agents, threads, entries and timers. A backfill counts the
// rows that were written before, in key order, one kind at a time. Until it is past a row, changes
// of that row do not count, because the backfill will find their outcome. So at each entry, the
// counts are those of the rows below the cursors.
//
// A name is an agent as long as any of these rows exist under it: a checkpoint, the totals of its
// memories, its sessions' and its conversations' index rows. A row of kv.KindAgent holds their
// number.
var agentKinds = []string{kv.KindCheckpoint, kv.KindMemoryAgent, kv.KindSessionAgent, kv.KindConversationAgent}

// countedMax is how many rows of a kind one entry counts.
const countedMax = 1024

// CountBackfills count the rows from below LimitsLevel.
var CountBackfills = func() (all []*Backfill) {
	for _, kind := range append([]string{kv.KindThread, kv.KindTimer}, agentKinds...) {
		all = append(all, &Backfill{Level: LimitsLevel, Cursor: countCursor(kind), Kind: kind, Most: countedMax, Add: countStored})
	}
	return all
}()

func countCursor(kind string) string { return kv.KindSystem + "counted" + kind }

// counts reports whether changes of a row count: the backfill is past it.
func (c *Tx) counts(key string) (bool, error) {
	if c.Level < LimitsLevel {
		return false, nil
	}
	cursor, err := c.Rows.Get(countCursor(key[:1]))
	return key < string(cursor), err
}

// CountThread adds to the counts of threads and entries. id is the changed thread.
func (c *Tx) CountThread(id string, threads, entries int64) error {
	if threads == 0 && entries == 0 {
		return nil
	}
	if ok, err := c.counts(kv.IDKey(kv.KindThread, c.Scope, id)); err != nil || !ok {
		return err
	}
	c.countThread(threads, entries)
	return nil
}

func (c *Tx) countThread(threads, entries int64) {
	c.AddUsage(0, 0)
	c.Record.Threads = Saturate(c.Record.Threads, threads)
	c.Record.Entries = Saturate(c.Record.Entries, entries)
}

// OwnEntries returns how many entries count for a thread: those that are stored under it, and not
// under a thread that it was forked from.
func OwnEntries(t *logpb.ThreadMeta) uint64 {
	from := t.Floor
	if n := len(t.Segments); n > 0 {
		from = max(from, t.Segments[n-1].To)
	}
	return t.Rev - min(from, t.Rev)
}

// CountTimer adds to the count of timers. key is the changed timer's row.
func (c *Tx) CountTimer(key string, by int64) error {
	if ok, err := c.counts(key); err != nil || !ok {
		return err
	}
	c.countTimer(by)
	return nil
}

func (c *Tx) countTimer(by int64) {
	c.AddUsage(0, 0)
	c.Record.Timers = Saturate(c.Record.Timers, by)
}

// CountAgent records that a row of an agent, of one of agentKinds, was added or removed.
func (c *Tx) CountAgent(key string, by int64) error {
	if ok, err := c.counts(key); err != nil || !ok {
		return err
	}
	return c.countAgent(key, by)
}

func (c *Tx) countAgent(key string, by int64) error {
	name, _, ok := strings.Cut(key[len(kv.ScopeKey(key[:1], c.Scope)):], kv.Separator)
	if !ok {
		return fmt.Errorf("the key %q names no agent", key)
	}
	row := kv.IDKey(kv.KindAgent, c.Scope, name)
	raw, err := c.Rows.Get(row)
	if err != nil {
		return err
	}
	had := kv.DecodeNumber(raw)
	has := Saturate(had, by)
	c.AddUsage(0, 0)
	switch {
	case has == had:
		return nil
	case has == 0:
		c.Rows.Remove(row)
		c.Record.Agents = Saturate(c.Record.Agents, -1)
		return nil
	case had == 0:
		c.Record.Agents++
	}
	c.Rows.Set(row, []byte(kv.EncodeNumber(has)))
	return nil
}

// Place adds an index row, which is absent. It counts if it makes a name an agent.
func (c *Tx) Place(key string) error {
	c.Rows.Set(key, kv.Indexed)
	if !ofAgent(key) {
		return nil
	}
	return c.CountAgent(key, 1)
}

// Unplace removes an index row, if it exists.
func (c *Tx) Unplace(key string) error {
	if c.Level >= LimitsLevel && ofAgent(key) {
		raw, err := c.Rows.Get(key)
		if err != nil {
			return err
		}
		if raw != nil {
			if err := c.CountAgent(key, -1); err != nil {
				return err
			}
		}
	}
	c.Rows.Remove(key)
	return nil
}

func ofAgent(key string) bool {
	return key[:1] == kv.KindSessionAgent || key[:1] == kv.KindConversationAgent
}

// CountImported counts a row of an import that replaces old, or nothing if old is nil.
func (c *Tx) CountImported(key string, old, raw []byte) error {
	if ok, err := c.counts(key); err != nil || !ok {
		return err
	}
	if old != nil {
		if err := c.countRow(key, old, -1); err != nil {
			return err
		}
	}
	return c.countRow(key, raw, 1)
}

// Counted reports whether rows of the key's kind count.
func Counted(key string) bool {
	switch key[:1] {
	case kv.KindThread, kv.KindTimer, kv.KindCheckpoint, kv.KindMemoryAgent, kv.KindSessionAgent, kv.KindConversationAgent:
		return true
	default:
		return false
	}
}

// countRow adds a row to the counts, or removes it from them if by is -1.
func (c *Tx) countRow(key string, raw []byte, by int64) error {
	switch key[:1] {
	case kv.KindThread:
		t := &logpb.ThreadMeta{}
		if err := command.Unmarshal(raw, t); err != nil {
			return fmt.Errorf("count thread %q: %w", key, err)
		}
		c.countThread(by, by*int64(OwnEntries(t)))
		return nil
	case kv.KindTimer:
		c.countTimer(by)
		return nil
	default:
		return c.countAgent(key, by)
	}
}

// countStored counts a row from below LimitsLevel.
func countStored(b *Entry, key string, raw []byte) error {
	scope, _, ok := strings.Cut(key[1:], kv.Separator)
	if !ok {
		return fmt.Errorf("the key %q names no scope", key)
	}
	c := &Tx{Entry: b, Scope: scope}
	if err := c.OpenScope(); err != nil {
		return err
	}
	if err := c.countRow(key, raw, 1); err != nil {
		return err
	}
	c.Scopes[scope] = c.Record
	return nil
}
