package importer

import (
	"context"
	"strconv"

	"dormouse/agent"
)

// VerifyInstances compares every stored instance with its conversation. Each
// message is there once, in order and byte for byte, followed by one entry of
// the timer. Each of them was one turn.
func VerifyInstances(ctx context.Context, s agent.Service, list []Conversation, o Options) (Report, error) {
	return verifyEach(ctx, s, list, o, func(ctx context.Context, client *retryClient, j job, d *Differences) (int, map[string]bool, error) {
		stored, err := loadStored(ctx, client, client.ref(j).Checkpoint())
		if err != nil {
			return 0, nil, err
		}
		stored.compareInstance(d, j)
		return len(stored.entries), stored.nodes, nil
	})
}

// compareInstance adds the differences between the stored instance and the
// whole conversation.
func (s storedConversation) compareInstance(d *Differences, j job) {
	if s.thread == nil || s.checkpoint == nil {
		d.add("%s: there is no such instance", j.name)
		return
	}
	s.compareMessages(d, j)
	turns := uint64(len(j.conversation.Messages)) + 1
	if s.thread.Rev != turns {
		d.add("%s: the thread is at rev %d, the file and the timer at %d", j.name, s.thread.Rev, turns)
	}
	// An instance that hibernated before its first message, for example because
	// its partition moved, has one more revision with its initial state.
	if c := s.checkpoint; c.Revision < turns || c.Revision > turns+1 || c.Thread == nil || c.Thread.Rev != turns {
		d.add("%s: the checkpoint was written %d times, for %d turns, and points to %+v", j.name, c.Revision, turns, c.Thread)
	}
	if want := agent.JSON(`{"messages":` + strconv.Itoa(len(j.conversation.Messages)) + `}`); !equal(s.checkpoint.State, want) {
		d.add("%s: the state is not the file's: %s", j.name, firstDifference(s.checkpoint.State, want))
	}
}

// compareMessages adds the entries that differ from the messages.
func (s storedConversation) compareMessages(d *Differences, j job) {
	for i, e := range s.entries {
		switch messages := len(j.conversation.Messages); {
		case i < messages:
			compareMessage(d, j, i, e)
		case i > messages || e.Kind != agent.KindSignalIn:
			d.add("%s: entry %d, a %s, is from neither the file nor the timer", j.name, i, e.Kind)
		}
	}
}
