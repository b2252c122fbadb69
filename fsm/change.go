package fsm

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

// What a log entry changes in a scope is one row of the scope's feed, however
// much it is. Each commit adds what it has changed; what it took back with its
// refusal is not in it. A feed is bounded by itself, so it counts for nothing
// in its scope's quotas: a full scope must be able to delete.

// feedsKey holds the index up to which a feed without a row knows nothing: it
// was not recorded, or has been forgotten.
const feedsKey = kv.KindSystem + "feeds"

// recorded is one change in a scope while the entry is applied. A nil change
// ends the feed: the scope was deleted.
type recorded struct {
	scope  string
	change *logpb.Change
}

// changed records that something has been written.
func (c *commit) changed(kind agent.ChangeKind, key string, revision uint64) {
	c.tell(&logpb.Change{Kind: string(kind), Key: key, Revision: revision})
}

// removed records that something has gone.
func (c *commit) removed(kind agent.ChangeKind, key string) {
	c.tell(&logpb.Change{Kind: string(kind), Key: key, Deleted: true})
}

func (c *commit) tell(change *logpb.Change) {
	if c.level >= changesLevel {
		c.changes = append(c.changes, recorded{scope: c.scope, change: change})
	}
}

// tellLate is tell for the kinds that were not told from the beginning.
func (c *commit) tellLate(change *logpb.Change) {
	if c.level >= conversationsLevel {
		c.tell(change)
	}
}

// storeFeeds writes what the entry has changed, scope by scope.
func (b *entry) storeFeeds() error {
	slices.SortStableFunc(b.changes, func(x, y recorded) int { return strings.Compare(x.scope, y.scope) })
	for all := b.changes; len(all) > 0; {
		scope, n := all[0].scope, 1
		for n < len(all) && all[n].scope == scope {
			n++
		}
		if err := b.storeFeed(scope, all[:n]); err != nil {
			return fmt.Errorf("feed of scope %q: %w", scope, err)
		}
		all = all[n:]
	}
	return nil
}

func (b *entry) storeFeed(scope string, changes []recorded) error {
	key := kv.FeedKey(scope)
	feed, err := readFeed(b.rows, scope)
	if err != nil {
		return err
	}
	b.unexpire(feed.ForgetAt, key)
	feed.ForgetAt = 0
	if slices.ContainsFunc(changes, func(r recorded) bool { return r.change == nil }) {
		// What the entry changed before or after that is not told: who hears
		// that a scope has gone reads it anew.
		feed = &logpb.FeedRow{
			Floor: b.progress.index + 1, Gone: b.progress.index, ForgetAt: b.deadline(agent.TombstoneTTL.Milliseconds()),
		}
		b.expireAt(feed.ForgetAt, key)
	} else if err := b.addChanges(scope, feed, changes); err != nil {
		return err
	}
	invariant.Check(feed.Floor <= b.progress.index+1 && feed.Gone < feed.Floor,
		"the feed of scope %q begins at %d, it was gone at %d, and this is entry %d", scope, feed.Floor, feed.Gone, b.progress.index)
	raw, err := command.Marshal(feed)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	b.rows.Set(key, raw)
	b.touch(key)
	return nil
}

func (b *entry) addChanges(scope string, feed *logpb.FeedRow, changes []recorded) error {
	row := &logpb.ChangeRow{TimeMs: b.progress.wall, Count: uint64(len(changes)), Changes: make([]*logpb.Change, len(changes))}
	for i, r := range changes {
		row.Changes[i] = r.change
	}
	raw, err := command.Marshal(row)
	if err != nil {
		return fmt.Errorf("encode changes: %w", err)
	}
	b.rows.Set(kv.ChangeKey(scope, b.progress.index), raw)
	feed.Kept += row.Count
	return b.trimFeed(scope, feed)
}

// trimFeed lets go of the oldest changes past what the scope keeps, and some
// slack, so that this is not to be done for each entry.
func (b *entry) trimFeed(scope string, feed *logpb.FeedRow) error {
	keep := orDefault(b.scopes[scope].Policy.ChangesMax, agent.ChangesMaxDefault)
	if feed.Kept <= keep+agent.ChangesSlack {
		return nil
	}
	keys, _, err := b.rows.Keys(kv.ChangeKey(scope, feed.Floor), kv.After(kv.ScopeKey(kv.KindChange, scope)), agent.ChangesTrimMax)
	if err != nil {
		return err
	}
	for _, key := range keys {
		raw, err := b.rows.Get(key)
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
		b.rows.Remove(key)
		feed.Kept -= head.Count
		feed.Floor = indexOf(key) + 1
	}
	return nil
}

// indexOf is the index in the key of a row of changes.
func indexOf(key string) uint64 { return kv.DecodeNumber(key[len(key)-8:]) }

// readFeed is how far a feed goes back.
func readFeed(rows kv.Reader, scope string) (*logpb.FeedRow, error) {
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
	known, err := rows.Get(feedsKey)
	if err != nil {
		return nil, err
	}
	feed.Floor = kv.DecodeNumber(known) + 1
	return feed, nil
}

// forgetFeed lets go of what is known of the feed of a scope that has gone.
// Who knows an index of it has missed that.
func (c *commit) forgetFeed(when int64) error {
	feed, err := readFeed(c.rows, c.scope)
	if err != nil || feed.ForgetAt != when {
		return err
	}
	known, err := c.rows.Get(feedsKey)
	if err != nil {
		return err
	}
	c.rows.Remove(kv.FeedKey(c.scope))
	c.rows.Set(feedsKey, []byte(kv.EncodeNumber(max(kv.DecodeNumber(known), feed.Gone))))
	return nil
}

// forgetFeeds ends all feeds: what the old cluster told after the backup was
// made is not in it, so whoever goes on in the new one, which begins at index,
// is to read anew.
func forgetFeeds(r storage.Reader, b *storage.Batch, index uint64) error {
	b.DeleteRange([]byte(kv.KindChange), []byte(kv.After(kv.KindFeed)))
	_, recorded, err := r.Get([]byte(feedsKey))
	if err == nil && recorded {
		b.Set([]byte(feedsKey), []byte(kv.EncodeNumber(index)))
	}
	return err
}
