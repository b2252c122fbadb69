package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// rowShape says what a kind's rows look like in an export: after the scope come
// ids, each with a NUL behind it, then numbers of eight bytes, then a tail.
type rowShape struct {
	ids     int
	empty   bool                 // the last id may be ""
	id      func(id string) bool // of the first id; nil means any
	numbers int
	tail    func(tail string) bool // nil means that there is none
	value   func() coded           // a message to decode the value with; nil where it is none
	length  int                    // of the value: exactly this many bytes; 0 means any; -1 means one or more numbers
	due     func(coded) int64      // when the row is in the wall queue; nil means never
}

func message[T any, M interface {
	*T
	coded
}]() coded {
	return M(new(T))
}

// expiring is the due of messages that say when they expire.
func expiring(m coded) int64 {
	if row, ok := m.(interface{ GetExpiresAt() int64 }); ok {
		return row.GetExpiresAt()
	}
	return 0
}

func forgotten(m coded) int64 {
	if row, ok := m.(interface{ GetForgetAt() int64 }); ok {
		return row.GetForgetAt()
	}
	return 0
}

func dueErasureRow(m coded) int64 {
	row, _ := m.(*logpb.Erasure)
	return row.GetDueAt()
}

func dueReviewRow(m coded) int64 {
	row, ok := m.(*logpb.ReviewRow)
	if !ok {
		return 0
	}
	return reviewDue(row)
}

func dueTimerRow(m coded) int64 {
	row, _ := m.(*logpb.TimerRow)
	return row.GetQueued()
}

func isInstance(id string) bool {
	_, _, ok := agent.InstanceOf(id)
	return ok
}

func idTail(tail string) bool { return agent.ValidID("id", tail) == nil }

// endedTail is an id with a NUL behind it.
func endedTail(tail string) bool {
	id, ended := strings.CutSuffix(tail, separator)
	return ended && idTail(id)
}

// numberedTail reports whether a tail is an id and a number.
func numberedTail(tail string) bool {
	id, number, ok := strings.Cut(tail, separator)
	return ok && idTail(id) && len(number) == 8
}

// entryKindTail is a kind with its length, and a seq.
func entryKindTail(tail string) bool {
	return len(tail) >= 10 && len(tail) == 10+int(binary.BigEndian.Uint16([]byte(tail[:2])))
}

var (
	tombstoneShape = rowShape{ids: 1, value: message[logpb.Tombstone], due: forgotten}
	indexShape     = rowShape{ids: 2, length: len(indexed)}
)

// movedKinds are the kinds of rows that an export has and an import takes.
var movedKinds = map[string]rowShape{
	kindValue:               {ids: 1, value: message[logpb.ValueRow], due: expiring},
	kindValueBytes:          {ids: 1},
	kindValueTombstone:      tombstoneShape,
	kindCheckpoint:          {ids: 1, value: message[logpb.CheckpointRow], due: expiring},
	kindCheckpointHistory:   {ids: 1, numbers: 2, value: message[logpb.CheckpointRow], due: forgotten},
	kindCheckpointBody:      {ids: 1, numbers: 2, value: message[logpb.CheckpointBody]},
	kindCheckpointTombstone: tombstoneShape,
	kindThread:              {ids: 1, value: message[logpb.ThreadMeta], due: expiring},
	kindEntry:               {ids: 1, numbers: 2, value: message[logpb.EntryRow]},
	kindEntryID:             {ids: 1, numbers: 1, tail: idTail, length: -1},
	kindEntryKind:           {ids: 1, numbers: 2, tail: entryKindTail},
	kindSummary:             {ids: 1, numbers: 1},
	kindPin:                 {ids: 1, tail: idTail},
	kindForkPin:             {ids: 1, numbers: 1, tail: numberedTail},
	kindThreadTombstone:     tombstoneShape,
	kindErasure:             {ids: 1, value: message[logpb.Erasure], due: dueErasureRow},
	kindErasing:             {ids: 1},
	kindEnding:              {ids: 1, id: isInstance, length: len(indexed)},
	kindManager:             {ids: 1, value: message[logpb.ManagerRow]},

	kindMemory:          {ids: 2, value: message[logpb.MemoryRow], due: expiring},
	kindMemoryBody:      {ids: 2, value: message[logpb.MemoryBody]},
	kindMemoryOrder:     {ids: 1, numbers: 1},
	kindMemorySession:   {ids: 2, empty: true, numbers: 1},
	kindMemoryTime:      {ids: 1, numbers: 1, tail: idTail, value: message[logpb.MemoryRow]},
	kindMemoryAgent:     {ids: 1, value: message[logpb.MemoryAgentRow]},
	kindMemoryGone:      {ids: 1, numbers: 1, value: message[logpb.MemoryGone]},
	kindMemoryList:      {numbers: 2, tail: numberedTail},
	kindMemoryPlace:     {ids: 1, numbers: 3, length: len(indexed)},
	kindMemoryTombstone: {ids: 2, value: message[logpb.Tombstone], due: forgotten},

	kindSession:            {ids: 1, value: message[logpb.SessionRow], due: expiring},
	kindSessionBody:        {ids: 1, value: message[logpb.SessionBody]},
	kindSessionRequest:     {ids: 1, numbers: 1, value: message[logpb.SessionRequest]},
	kindSessionSnapshot:    {ids: 1, numbers: 1, value: message[logpb.SessionSnapshot]},
	kindSessionQueue:       {ids: 1, numbers: 1, value: message[logpb.SessionRequest]},
	kindSessionStatus:      indexShape,
	kindSessionAgent:       indexShape,
	kindSessionOwner:       indexShape,
	kindSessionRecoverable: {ids: 1, length: 8},
	kindSessionTombstone:   tombstoneShape,
	kindReview:             {ids: 1, value: message[logpb.ReviewRow], due: dueReviewRow},
	kindReviewStatus:       {ids: 1, numbers: 1, tail: endedTail},
	kindReviewAssignee:     {ids: 2, numbers: 1, tail: endedTail},
	kindReviewSession:      {ids: 1, numbers: 1},

	kindConversation:            {ids: 1, value: message[logpb.ConversationRow], due: expiring},
	kindConversationState:       {ids: 1},
	kindConversationPending:     {ids: 1, value: message[logpb.PendingRow]},
	kindConversationInterrupted: {ids: 1},
	kindMessage:                 {ids: 1, numbers: 2, value: message[logpb.MessageRow]},
	kindMessageID:               {ids: 1, numbers: 1, tail: idTail, length: 8},
	kindConversationTombstone:   tombstoneShape,
	kindConversationAgent:       indexShape,
	kindConversationOwner:       indexShape,

	kindTimer:     {ids: 3, value: message[logpb.TimerRow], due: dueTimerRow},
	kindTimerData: {ids: 3},
	kindTimerDue:  {ids: 3, length: len(indexed)},
}

// stayingKinds are the kinds of a scope's rows that do not move, and why.
var stayingKinds = map[string]string{
	kindClaim:     "claims end with the move: holders take them again, at a higher epoch",
	kindChange:    "the feed of changes is of one cluster's log",
	kindImport:    "says that the scope was imported",
	kindImportDue: "the queue of an import that is under way",
}

// checkScopeRow checks a row that a client wants to import, and returns its
// place in the wall queue; 0 means none.
func checkScopeRow(row agent.ScopeRow) (due int64, err error) {
	if len(row.Key) == 0 {
		return 0, errors.New("its key is empty")
	}
	shape, known := movedKinds[string(row.Key[:1])]
	if !known {
		return 0, fmt.Errorf("key %q is of a kind that does not move, or that this version does not know", row.Key)
	}
	if !shape.fits(string(row.Key[1:])) {
		return 0, fmt.Errorf("key %q does not have the form of its kind", row.Key)
	}
	if shape.length > 0 && len(row.Value) != shape.length || shape.length < 0 && (len(row.Value) == 0 || len(row.Value)%8 != 0) {
		return 0, fmt.Errorf("the value of key %q has %d bytes", row.Key, len(row.Value))
	}
	if shape.value == nil {
		return 0, nil
	}
	m := shape.value()
	if err := unmarshal(row.Value, m); err != nil {
		return 0, fmt.Errorf("decode the value of key %q: %w", row.Key, err)
	}
	if shape.due == nil {
		return 0, nil
	}
	if due = shape.due(m); due < 0 {
		return 0, fmt.Errorf("key %q falls due at %d, before 1970", row.Key, due)
	}
	return due, nil
}

func (s rowShape) fits(key string) bool {
	for i := range s.ids {
		id, rest, ok := strings.Cut(key, separator)
		if !ok || !idTail(id) && (id != "" || !s.empty || i < s.ids-1) {
			return false
		}
		if i == 0 && s.id != nil && !s.id(id) {
			return false
		}
		key = rest
	}
	if len(key) < 8*s.numbers {
		return false
	}
	key = key[8*s.numbers:]
	if s.tail == nil {
		return key == ""
	}
	return s.tail(key)
}
