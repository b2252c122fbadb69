package scoperow

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	logpb "dormouse/proto/log"
)

// list is a list in a row, and the limit that bounds it.
type list struct {
	name  string
	size  int
	limit string
	bound int
}

// listsOf returns the lists in the message of a row.
func listsOf(m command.Coded) []list {
	switch m := m.(type) {
	case *logpb.CheckpointRow:
		return []list{{"kept", len(m.GetKept()), "history_max", agent.HistoryMax}}
	case *logpb.CheckpointBody:
		return listsOf(m.GetRow())
	case *logpb.ThreadMeta:
		return []list{{"segments", len(m.Segments), "fork_segments_max", agent.ForkSegmentsMax}}
	case *logpb.SessionRow:
		return []list{
			{"snapshots", len(m.Snapshots), "session_snapshots_max", agent.SessionSnapshotsMax},
			{"turn.snapshots", len(m.GetTurn().GetSnapshots()), "session_snapshots_max", agent.SessionSnapshotsMax},
			{"request_sizes", len(m.RequestSizes), "session_requests_max", agent.SessionRequestsMax},
			{"queue_sizes", len(m.QueueSizes), "session_queue_max", agent.SessionQueueMax},
		}
	case *logpb.ReviewRow:
		return []list{{"deciders", len(m.Deciders), "review_deciders_max", agent.ReviewDecidersMax}}
	case *logpb.PendingRow:
		return []list{{"messages", len(m.Messages), "conversation_pending_max", agent.ConversationPendingMax}}
	case *logpb.MemoryRow:
		return []list{{"tags", len(m.Tags), "memory_tags_max", agent.MemoryTagsMax}}
	case *logpb.MemoryBody:
		return []list{{"embedding", len(m.Embedding), "embedding_max", agent.EmbeddingMax}}
	case *logpb.ManagerRow:
		return []list{{"skips_persist", len(m.GetSettings().GetSkipsPersist()), "manager_skips_max", agent.ManagerSkipsMax}}
	default:
		return nil
	}
}

// validLists checks that the lists in the message of a row are no longer than ops make them.
func validLists(m command.Coded) error {
	for _, l := range listsOf(m) {
		if l.size > l.bound {
			return fmt.Errorf("its %s has %d items, more than %s = %d", l.name, l.size, l.limit, l.bound)
		}
	}
	return nil
}
