package importer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"dormouse/agent"
)

// Report is the result of a verification.
type Report struct {
	Conversations int
	Entries       int
	Nodes         []string // that answered
	Differences   Differences
}

// Verify compares every thread and checkpoint with the conversations, byte for
// byte, and recomputes each thread's head.
func Verify(ctx context.Context, s agent.Service, list []Conversation, o Options) (Report, error) {
	return verifyEach(ctx, s, list, o, func(ctx context.Context, client *retryClient, j job, d *Differences) (int, map[string]bool, error) {
		stored, err := loadStored(ctx, client, j.name)
		if err != nil {
			return 0, nil, err
		}
		stored.compare(d, j, len(j.conversation.Messages))
		return len(stored.entries), stored.nodes, nil
	})
}

// verifyEach calls compare for each conversation, several at a time. compare
// returns the number of stored entries, and the nodes that answered.
func verifyEach(ctx context.Context, s agent.Service, list []Conversation, o Options,
	compare func(context.Context, *retryClient, job, *Differences) (entries int, nodes map[string]bool, err error),
) (Report, error) {
	o = o.withDefaults()
	var counted counters
	var mu sync.Mutex
	var report Report
	nodes := map[string]bool{}
	err := forEachCopy(ctx, list, o, func(ctx context.Context, jobs <-chan job) error {
		client := newRetryClient(s, o.Scope, o.GiveUp, &counted)
		for j := range jobs {
			var d Differences
			entries, answered, err := compare(ctx, client, j, &d)
			if err != nil {
				return fmt.Errorf("verify %s (line %d): %w", j.name, j.conversation.Line, err)
			}
			mu.Lock()
			report.Conversations++
			report.Entries += entries
			report.Differences.join(d)
			maps.Copy(nodes, answered)
			mu.Unlock()
			o.Progress(len(j.conversation.Messages))
		}
		return nil
	})
	report.Nodes = slices.Sorted(maps.Keys(nodes))
	return report, err
}

// storedConversation is what a store has under one name.
type storedConversation struct {
	checkpoint *agent.Checkpoint // nil if there is none
	thread     *agent.Thread     // nil if there is none
	entries    []agent.Entry     // of thread, from its floor to its rev
	nodes      map[string]bool   // that answered
}

// loadStored reads the checkpoint and the thread of one name at one index.
// Further pages of the thread are read at the rev of the first.
func loadStored(ctx context.Context, s *retryClient, name string) (storedConversation, error) {
	answers, err := s.read(ctx,
		&agent.GetCheckpoint{Key: name},
		&agent.LoadEntries{Thread: name, Limit: agent.EntriesLimitMax})
	if err != nil {
		return storedConversation{}, err
	}
	found := storedConversation{nodes: map[string]bool{answers.Node: true}}
	checkpoint, err := foundIn[*agent.Checkpoint](answers, 0)
	if err == nil {
		found.checkpoint = checkpoint
	} else if !errors.Is(err, agent.ErrNotFound) {
		return storedConversation{}, err
	}
	page, err := foundIn[*agent.Entries](answers, 1)
	if errors.Is(err, agent.ErrNotFound) {
		return found, nil
	} else if err != nil {
		return storedConversation{}, err
	}
	found.thread, found.entries = &page.Thread, page.Items
	for page.Next != nil {
		answers, err := s.read(ctx, &agent.LoadEntries{
			Thread: name, From: *page.Next, AtRev: &found.thread.Rev, Limit: agent.EntriesLimitMax,
		})
		if err != nil {
			return storedConversation{}, err
		}
		if page, err = foundIn[*agent.Entries](answers, 0); err != nil {
			return storedConversation{}, err
		}
		found.entries = append(found.entries, page.Items...)
		found.nodes[answers.Node] = true
	}
	return found, nil
}

// foundIn returns the object that a read found, which must be of type T.
func foundIn[T agent.Found](answers agent.Answers, i int) (T, error) {
	var none T
	if answer := answers.Answers[i]; answer.Err != nil {
		return none, answer.Err
	} else if found, ok := answer.Found.(T); ok {
		return found, nil
	}
	return none, fmt.Errorf("the answer is a %T", answers.Answers[i].Found)
}

// compare adds the differences between what is stored and the first n messages
// of j.
func (s storedConversation) compare(d *Differences, j job, n int) {
	if s.thread == nil {
		d.add("%s: there is no such thread", j.name)
	} else {
		s.compareThread(d, j, n)
	}
	switch c := s.checkpoint; {
	case c == nil && n > 0:
		d.add("%s: there is no such checkpoint", j.name)
	case c == nil:
	case n == 0:
		d.add("%s: there is a checkpoint, but no message", j.name)
	default:
		s.compareCheckpoint(d, j, n)
	}
}

func (s storedConversation) compareThread(d *Differences, j job, n int) {
	if s.thread.Rev != uint64(n) {
		d.add("%s: the thread is at rev %d, the file at %d", j.name, s.thread.Rev, n)
	}
	if s.thread.Floor != 0 {
		d.add("%s: the thread is compacted below %d", j.name, s.thread.Floor)
		return
	}
	if len(s.entries) != int(s.thread.Rev) {
		d.add("%s: the thread has %d entries at rev %d", j.name, len(s.entries), s.thread.Rev)
	}
	var head agent.Head
	for i, e := range s.entries {
		head = head.After(&e)
		if e.Seq != uint64(i) {
			d.add("%s: entry %d has seq %d", j.name, i, e.Seq)
		}
		if i >= n {
			continue
		}
		compareMessage(d, j, i, e)
	}
	if head != s.thread.Head {
		d.add("%s: the thread's head is %s, its entries' %s", j.name, s.thread.Head, head)
	}
}

// compareMessage adds the differences between an entry and the ith message of
// j.
func compareMessage(d *Differences, j job, i int, e agent.Entry) {
	want := j.conversation.Messages[i]
	if !equal(e.Payload, want.Payload) {
		d.add("%s: entry %d is not the file's: %s", j.name, i, firstDifference(e.Payload, want.Payload))
	}
	if e.Kind != want.Kind {
		d.add("%s: entry %d is a %s, the file's a %s", j.name, i, e.Kind, want.Kind)
	}
}

func (s storedConversation) compareCheckpoint(d *Differences, j job, n int) {
	c := s.checkpoint
	if want := j.conversation.state(n); !equal(c.State, want) {
		d.add("%s: the checkpoint's state is not the file's: %s", j.name, firstDifference(c.State, want))
	}
	if c.Revision != uint64(n) {
		d.add("%s: the checkpoint was written %d times, for %d messages", j.name, c.Revision, n)
	}
	switch p := c.Thread; {
	case p == nil:
		d.add("%s: the checkpoint points to no thread", j.name)
	case p.Thread != j.name || p.Rev != uint64(n):
		d.add("%s: the checkpoint points to %s@%d, not to %s@%d", j.name, p.Thread, p.Rev, j.name, n)
	case s.thread != nil && p.Rev == s.thread.Rev && p.Head != s.thread.Head.String():
		d.add("%s: the checkpoint's head is %s, the thread's %s", j.name, p.Head, s.thread.Head)
	}
}

// firstDifference describes the first difference of two texts.
func firstDifference(stored, want []byte) string {
	const around = 20 // bytes shown to each side
	at := 0
	for at < len(stored) && at < len(want) && stored[at] == want[at] {
		at++
	}
	from := max(0, at-around)
	return fmt.Sprintf("at byte %d it has %q, the file %q", at,
		stored[from:min(len(stored), at+around)], want[from:min(len(want), at+around)])
}
