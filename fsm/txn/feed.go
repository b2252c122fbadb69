package txn

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/internal/invariant"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// All changes of a log entry in a scope are one row of the scope's feed. Each commit adds its
// changes; a refused commit adds none. A feed has its own bound, and does not count for its scope's
// quotas: a full scope must still accept deletes.

// FeedsKey holds the index up to which a feed without a row has no changes: they were not recorded,
// or have been removed.
const FeedsKey = kv.KindSystem + "feeds"

// ScopeChange is one change in a scope while the entry is applied. A nil change ends the feed: the
// scope was deleted.
type ScopeChange struct {
	Scope  string
	Change *logpb.Change
}

// Changed records a write.
func (c *Tx) Changed(kind agent.ChangeKind, key string, revision uint64) {
	c.RecordChange(&logpb.Change{Kind: string(kind), Key: key, Revision: revision})
}

// Removed records a removal.
func (c *Tx) Removed(kind agent.ChangeKind, key string) {
	c.RecordChange(&logpb.Change{Kind: string(kind), Key: key, Deleted: true})
}

// RecordChange records a change in the feed of the scope, with the principal of the commit; nil ends the
// feed.
func (c *Tx) RecordChange(change *logpb.Change) {
	if c.Level >= TokensLevel && change != nil {
		change.Principal = c.Principal
	}
	if c.Level >= ChangesLevel {
		c.Changes = append(c.Changes, ScopeChange{Scope: c.Scope, Change: change})
	}
}

// RecordLateChange is RecordChange for kinds that feeds have from ConversationsLevel on.
func (c *Tx) RecordLateChange(change *logpb.Change) {
	if c.Level >= ConversationsLevel {
		c.RecordChange(change)
	}
}

// StoreFeeds writes the entry's changes, scope by scope.
func (b *Entry) StoreFeeds() error {
	slices.SortStableFunc(b.Changes, func(x, y ScopeChange) int { return strings.Compare(x.Scope, y.Scope) })
	for all := b.Changes; len(all) > 0; {
		scope, n := all[0].Scope, 1
		for n < len(all) && all[n].Scope == scope {
			n++
		}
		if err := b.storeFeed(scope, all[:n]); err != nil {
			return fmt.Errorf("feed of scope %q: %w", scope, err)
		}
		all = all[n:]
	}
	return nil
}

func (b *Entry) storeFeed(scope string, changes []ScopeChange) error {
	key := kv.FeedKey(scope)
	feed, err := ReadFeed(b.Rows, scope)
	if err != nil {
		return err
	}
	b.ClearExpiry(feed.ForgetAt, key)
	feed.ForgetAt = 0
	if slices.ContainsFunc(changes, func(r ScopeChange) bool { return r.Change == nil }) {
		// Other changes of this entry are not recorded: readers that learn of the deletion read the
		// scope again.
		feed = &logpb.FeedRow{
			Floor: b.Progress.Index + 1, Gone: b.Progress.Index, ForgetAt: b.Deadline(agent.TombstoneTTL.Milliseconds()),
		}
		b.SetExpiry(feed.ForgetAt, key)
	} else if err := b.addChanges(scope, feed, changes); err != nil {
		return err
	}
	invariant.Check(feed.Floor <= b.Progress.Index+1 && feed.Gone < feed.Floor,
		"the feed of scope %q begins at %d, it was gone at %d, and this is entry %d", scope, feed.Floor, feed.Gone, b.Progress.Index)
	b.Rows.SetMessage(key, feed)
	b.NotifyWatchers(key)
	return nil
}

func (b *Entry) addChanges(scope string, feed *logpb.FeedRow, changes []ScopeChange) error {
	row := &logpb.ChangeRow{TimeMs: b.Progress.Wall, Count: uint64(len(changes)), Changes: make([]*logpb.Change, len(changes))}
	for i, r := range changes {
		row.Changes[i] = r.Change
	}
	b.Rows.SetMessage(kv.ChangeKey(scope, b.Progress.Index), row)
	feed.Kept += row.Count
	most := agent.ChangesTrimMax
	if b.Level >= TrimLevel { // old rows may have one change each, and this one many
		most += len(changes)
	}
	return b.trimFeed(scope, feed, most)
}

// trimFeed removes the oldest changes beyond what the scope keeps, of at most so many log entries. It
// allows some slack, so that not every entry trims.
func (b *Entry) trimFeed(scope string, feed *logpb.FeedRow, most int) error {
	state := b.Scopes[scope]
	keep := OrDefault(PolicyOf(&state.Scope, b.Defaults).ChangesMax, agent.ChangesMaxDefault)
	if feed.Kept <= keep+agent.ChangesSlack {
		return nil
	}
	keys, _, err := b.Rows.Keys(kv.ChangeKey(scope, feed.Floor), kv.After(kv.ScopeKey(kv.KindChange, scope)), most)
	if err != nil {
		return err
	}
	for _, key := range keys {
		raw, err := b.Rows.Get(key)
		if err != nil {
			return err
		}
		head := &logpb.ChangeRowHead{}
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, head); err != nil {
			return fmt.Errorf("decode changes: %w", err)
		}
		if feed.Kept < keep+head.Count {
			return nil
		}
		b.Rows.Remove(key)
		feed.Kept -= head.Count
		feed.Floor = IndexOf(key) + 1
	}
	return nil
}

// IndexOf returns the index in the key of a row of changes.
func IndexOf(key string) uint64 { return kv.DecodeNumber(key[len(key)-8:]) }

// ReadFeed returns the row of a feed, which says how far it goes back.
func ReadFeed(rows kv.Reader, scope string) (*logpb.FeedRow, error) {
	raw, err := rows.Get(kv.FeedKey(scope))
	if err != nil {
		return nil, err
	}
	feed := &logpb.FeedRow{}
	if raw != nil {
		if err := command.Unmarshal(raw, feed); err != nil {
			return nil, fmt.Errorf("decode feed: %w", err)
		}
		return feed, nil
	}
	known, err := rows.Get(FeedsKey)
	if err != nil {
		return nil, err
	}
	feed.Floor = kv.DecodeNumber(known) + 1
	return feed, nil
}

// ForgetFeed removes the feed row of a deleted scope. Readers at an older index then get an error.
func (c *Tx) ForgetFeed(when int64) error {
	feed, err := ReadFeed(c.Rows, c.Scope)
	if err != nil || feed.ForgetAt != when {
		return err
	}
	known, err := c.Rows.Get(FeedsKey)
	if err != nil {
		return err
	}
	c.Rows.Remove(kv.FeedKey(c.Scope))
	c.Rows.Set(FeedsKey, []byte(kv.EncodeNumber(max(kv.DecodeNumber(known), feed.Gone))))
	return nil
}

// ForgetFeeds ends all feeds. The backup lacks later changes of the old cluster. So readers that
// continue in the new cluster, which begins at index, must read everything again.
func ForgetFeeds(r storage.Reader, b *storage.Batch, index uint64) error {
	b.DeleteRange([]byte(kv.KindChange), []byte(kv.After(kv.KindFeed)))
	_, recorded, err := r.Get([]byte(FeedsKey))
	if err == nil && recorded {
		b.Set([]byte(FeedsKey), []byte(kv.EncodeNumber(index)))
	}
	return err
}
