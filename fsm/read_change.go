package fsm

import (
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Bounds of a page of changes, besides the caller's.
const (
	changesBytesMax = 1 << 20 // of keys and similar fields
	changeBodiesMax = 4 << 20 // that a page with bodies reads
	changesSeenMax  = 4096    // rows that one page reads; beyond it a page ends with the current row
)

// ChangesPage is a page of a scope's change feed.
type ChangesPage struct {
	Changes []agent.Changed
	Next    uint64 // the index to continue from; past the view's own if there are no more
	Skip    uint64 // number of changes of entry Next that were read
	Floor   uint64 // all changes from this index on are kept
	Gone    uint64 // the index at which the scope was last deleted; 0 means never
}

// ChangesPage reads at most limit changes whose path begins with prefix, starting at index from,
// after skip changes of that index. It reads nothing below the floor. It returns an error with code
// unavailable while changes are not recorded yet.
func (v *View) ChangesPage(scope string, from, skip uint64, prefix string, limit int) (ChangesPage, error) {
	if v.err != nil {
		return ChangesPage{}, v.err
	}
	if recorded, err := v.Get(txn.FeedsKey); err != nil || recorded == nil {
		if err == nil {
			err = agent.Errorf(agent.CodeUnavailable, "changes are recorded once all nodes support it: upgrade the older nodes, or wait")
		}
		return ChangesPage{}, err
	}
	feed, err := txn.ReadFeed(v, scope)
	if err != nil {
		return ChangesPage{}, err
	}
	page := &changesPage{ChangesPage: ChangesPage{Next: from, Skip: skip, Floor: feed.Floor, Gone: feed.Gone}, prefix: prefix, limit: limit}
	if from < feed.Floor {
		return page.ChangesPage, nil
	}
	err = v.eachChange(scope, from, page.add)
	if err == nil && !page.full {
		page.Next, page.Skip = max(page.Next, v.progress.Index+1), 0
	}
	return page.ChangesPage, err
}

// eachChange visits the rows of a feed from an index on, until visit returns false.
func (v *View) eachChange(scope string, from uint64, visit func(index uint64, row *logpb.ChangeRow) (more bool)) error {
	cursor, err := v.view.Scan([]byte(kv.ChangeKey(scope, from)), []byte(kv.After(kv.ScopeKey(kv.KindChange, scope))))
	if err != nil {
		return err
	}
	for more := true; more && cursor.Next(); {
		key, raw := string(cursor.Key()), cursor.Value()
		if raw == nil {
			break // Close returns the error
		}
		row, err := decodeChangeRow(raw)
		if err != nil {
			_ = cursor.Close()
			return fmt.Errorf("entry %d in scope %q: %w", txn.IndexOf(key), scope, err)
		}
		more = visit(txn.IndexOf(key), row)
	}
	return cursor.Close()
}

// changesPage is a page while it is filled.
type changesPage struct {
	ChangesPage
	prefix      string
	limit       int
	seen, bytes int
	full        bool // Next and Skip are set
}

func (p *changesPage) add(index uint64, row *logpb.ChangeRow) (more bool) {
	skip := uint64(0)
	if index == p.Next {
		skip = p.Skip
	}
	for ordinal := skip; ordinal < uint64(len(row.Changes)); ordinal++ {
		if len(p.Changes) >= p.limit || p.bytes > changesBytesMax {
			p.Next, p.Skip, p.full = index, ordinal, true
			return false
		}
		change := decodeChange(row.Changes[ordinal])
		if !change.Under(p.prefix) {
			continue
		}
		change.Index, change.Ordinal, change.Time = index, ordinal, row.TimeMs
		p.Changes = append(p.Changes, change)
		p.bytes += len(change.Path()) + len(change.Principal)
	}
	p.Next, p.Skip = index+1, 0
	p.seen += len(row.Changes)
	p.full = p.seen > changesSeenMax
	return !p.full
}

// AddBodies sets the bodies of the page's changes. It ends the page before a change whose body does
// not fit: a page reads at most changeBodiesMax bytes, also of what later changes wrote, or one body.
func (v *View) AddBodies(scope string, page *ChangesPage) {
	after, whole := v.sameTime(scope, page)
	size, deleted := 0, agent.DeletedLater(slices.Concat(page.Changes, after))
	for i := range page.Changes {
		c := &page.Changes[i]
		read := c.Written()
		if read == nil || deleted[i] || !whole && c.Time == page.Changes[len(page.Changes)-1].Time {
			continue
		}
		bytes := c.SetBody(v.Answer(scope, read).Found)
		if size > 0 && size+bytes > changeBodiesMax {
			page.Next, page.Skip = c.Index, c.Ordinal
			page.Changes = page.Changes[:i]
			return
		}
		size += bytes
	}
}

// sameTime returns the changes after a page that have the time of its last one. whole is false if these are not all.
func (v *View) sameTime(scope string, page *ChangesPage) (after []agent.Changed, whole bool) {
	if len(page.Changes) == 0 {
		return nil, true
	}
	at := page.Changes[len(page.Changes)-1].Time
	err := v.eachChange(scope, page.Next, func(index uint64, row *logpb.ChangeRow) bool {
		if row.TimeMs != at {
			return false
		}
		for ordinal, change := range row.Changes {
			if index > page.Next || uint64(ordinal) >= page.Skip {
				after = append(after, decodeChange(change))
			}
		}
		return len(after) <= changesSeenMax
	})
	return after, err == nil && len(after) <= changesSeenMax
}

func decodeChangeRow(raw []byte) (*logpb.ChangeRow, error) {
	row := &logpb.ChangeRow{}
	if err := command.Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode changes: %w", err)
	}
	return row, nil
}

func decodeChange(p *logpb.Change) agent.Changed {
	return agent.Changed{
		Kind: agent.ChangeKind(p.GetKind()), Agent: p.GetAgent(), Key: p.GetKey(),
		Conversation: p.GetConversation(), Manager: p.GetManager(), Instance: p.GetInstance(),
		Revision: p.GetRevision(), Deleted: p.GetDeleted(), Status: p.GetStatus(), Principal: p.GetPrincipal(),
	}
}
