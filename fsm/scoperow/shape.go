package scoperow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/session"
	logpb "dormouse/proto/log"
)

// Shape describes a kind's rows in an export. A key has the scope, ids that each end with a NUL,
// numbers of eight bytes, and a tail.
type Shape struct {
	ids     int
	empty   bool                 // the last id may be ""
	id      func(id string) bool // of the first id; nil means any
	numbers int
	tail    func(tail string) bool    // nil means that there is no tail
	value   func() command.Coded      // returns a message to decode the value with; nil if the value is not a message
	length  int                       // of the value: exactly this many bytes; 0 means any; -1 means one or more numbers
	due     func(command.Coded) int64 // returns when the row is due in the wall queue; nil means never
}

func message[T any, M interface {
	*T
	command.Coded
}]() command.Coded {
	return M(new(T))
}

// expiring returns the expiry time of messages that have one, else 0.
func expiring(m command.Coded) int64 {
	if row, ok := m.(interface{ GetExpiresAt() int64 }); ok {
		return row.GetExpiresAt()
	}
	return 0
}

func forgotten(m command.Coded) int64 {
	if row, ok := m.(interface{ GetForgetAt() int64 }); ok {
		return row.GetForgetAt()
	}
	return 0
}

func dueErasureRow(m command.Coded) int64 {
	row, _ := m.(*logpb.Erasure)
	return row.GetDueAt()
}

func dueReviewRow(m command.Coded) int64 {
	row, ok := m.(*logpb.ReviewRow)
	if !ok {
		return 0
	}
	return session.ReviewDue(row)
}

func dueTimerRow(m command.Coded) int64 {
	row, _ := m.(*logpb.TimerRow)
	return row.GetQueued()
}

func isInstance(id string) bool {
	_, _, ok := agent.InstanceOf(id)
	return ok
}

func idTail(tail string) bool { return agent.ValidKey("id", tail) == nil }

// endedTail reports whether a tail is an id that ends with a NUL.
func endedTail(tail string) bool {
	id, ended := strings.CutSuffix(tail, kv.Separator)
	return ended && idTail(id)
}

// numberedTail reports whether a tail is an id and a number.
func numberedTail(tail string) bool {
	id, number, ok := strings.Cut(tail, kv.Separator)
	return ok && idTail(id) && len(number) == 8
}

// entryKindTail reports whether a tail is a kind with its length, and a seq.
func entryKindTail(tail string) bool {
	return len(tail) >= 10 && len(tail) == 10+int(binary.BigEndian.Uint16([]byte(tail[:2])))
}

var (
	tombstoneShape = Shape{ids: 1, value: message[logpb.Tombstone], due: forgotten}
	indexShape     = Shape{ids: 2, length: len(kv.Indexed)}
)

// Moved are the kinds of rows that are exported and imported.
var Moved = map[string]Shape{
	kv.KindValue:               {ids: 1, value: message[logpb.ValueRow], due: expiring},
	kv.KindValueBytes:          {ids: 1},
	kv.KindValueTombstone:      tombstoneShape,
	kv.KindCheckpoint:          {ids: 1, value: message[logpb.CheckpointRow], due: expiring},
	kv.KindCheckpointHistory:   {ids: 1, numbers: 2, value: message[logpb.CheckpointRow], due: forgotten},
	kv.KindCheckpointBody:      {ids: 1, numbers: 2, value: message[logpb.CheckpointBody]},
	kv.KindCheckpointTombstone: tombstoneShape,
	kv.KindThread:              {ids: 1, value: message[logpb.ThreadMeta], due: expiring},
	kv.KindEntry:               {ids: 1, numbers: 2, value: message[logpb.EntryRow]},
	kv.KindEntryID:             {ids: 1, numbers: 1, tail: idTail, length: -1},
	kv.KindEntryKind:           {ids: 1, numbers: 2, tail: entryKindTail},
	kv.KindSummary:             {ids: 1, numbers: 1},
	kv.KindPin:                 {ids: 1, tail: idTail},
	kv.KindForkPin:             {ids: 1, numbers: 1, tail: numberedTail},
	kv.KindShared:              {ids: 1, numbers: 1, length: 16},
	kv.KindThreadTombstone:     tombstoneShape,
	kv.KindErasure:             {ids: 1, value: message[logpb.Erasure], due: dueErasureRow},
	kv.KindErasing:             {ids: 1},
	kv.KindEnding:              {ids: 1, id: isInstance, length: len(kv.Indexed)},
	kv.KindManager:             {ids: 1, value: message[logpb.ManagerRow]},

	kv.KindMemory:          {ids: 2, value: message[logpb.MemoryRow], due: expiring},
	kv.KindMemoryBody:      {ids: 2, value: message[logpb.MemoryBody]},
	kv.KindMemoryOrder:     {ids: 1, numbers: 1},
	kv.KindMemorySession:   {ids: 2, empty: true, numbers: 1},
	kv.KindMemoryTime:      {ids: 1, numbers: 1, tail: idTail, value: message[logpb.MemoryRow]},
	kv.KindMemoryAgent:     {ids: 1, value: message[logpb.MemoryAgentRow]},
	kv.KindMemoryGone:      {ids: 1, numbers: 1, value: message[logpb.MemoryGone]},
	kv.KindMemoryList:      {numbers: 2, tail: numberedTail},
	kv.KindMemoryPlace:     {ids: 1, numbers: 3, length: len(kv.Indexed)},
	kv.KindMemoryTombstone: {ids: 2, value: message[logpb.Tombstone], due: forgotten},

	kv.KindSession:            {ids: 1, value: message[logpb.SessionRow], due: expiring},
	kv.KindSessionBody:        {ids: 1, value: message[logpb.SessionBody]},
	kv.KindSessionRequest:     {ids: 1, numbers: 1, value: message[logpb.SessionRequest]},
	kv.KindSessionSnapshot:    {ids: 1, numbers: 1, value: message[logpb.SessionSnapshot]},
	kv.KindSessionQueue:       {ids: 1, numbers: 1, value: message[logpb.SessionRequest]},
	kv.KindSessionStatus:      indexShape,
	kv.KindSessionAgent:       indexShape,
	kv.KindSessionOwner:       indexShape,
	kv.KindSessionRecoverable: {ids: 1, length: 8},
	kv.KindSessionTombstone:   tombstoneShape,
	kv.KindReview:             {ids: 1, value: message[logpb.ReviewRow], due: dueReviewRow},
	kv.KindReviewStatus:       {ids: 1, numbers: 1, tail: endedTail},
	kv.KindReviewAssignee:     {ids: 2, numbers: 1, tail: endedTail},
	kv.KindReviewSession:      {ids: 1, numbers: 1},

	kv.KindConversation:            {ids: 1, value: message[logpb.ConversationRow], due: expiring},
	kv.KindConversationState:       {ids: 1},
	kv.KindConversationPending:     {ids: 1, value: message[logpb.PendingRow]},
	kv.KindConversationInterrupted: {ids: 1},
	kv.KindMessage:                 {ids: 1, numbers: 2, value: message[logpb.MessageRow]},
	kv.KindMessageID:               {ids: 1, numbers: 1, tail: idTail, length: 8},
	kv.KindConversationTombstone:   tombstoneShape,
	kv.KindConversationAgent:       indexShape,
	kv.KindConversationOwner:       indexShape,

	kv.KindTimer:     {ids: 3, value: message[logpb.TimerRow], due: dueTimerRow},
	kv.KindTimerData: {ids: 3},
	kv.KindTimerDue:  {ids: 3, length: len(kv.Indexed)},
}

// Staying are the kinds of a scope's rows that are not exported, and why.
var Staying = map[string]string{
	kv.KindClaim:    "claims end with the move: holders take them again, at a higher epoch",
	kv.KindChange:   "the feed of changes is of one cluster's log",
	kv.KindAgent:    "an import counts the rows that it holds",
	kv.KindMetadata: "an import builds the index of the rows that it holds",

	kv.KindMetadataBuild: "an import begins the build at its end",
	kv.KindDeletion:      "receipts are of one cluster's log",
	kv.KindDeleting:      "a scope is not exported while rows are left to remove",
	kv.KindImport:        "says that the scope was imported",
	kv.KindImportDue:     "the queue of an import that is under way",
}

// Check checks a row that a client imports. It returns the message in its value, or nil if the kind has none,
// and its time in the wall queue; 0 means none.
func Check(row agent.ScopeRow) (m command.Coded, due int64, err error) {
	if len(row.Key) == 0 {
		return nil, 0, errors.New("its key is empty")
	}
	shape, known := Moved[string(row.Key[:1])]
	if !known {
		return nil, 0, fmt.Errorf("key %q is of a kind that is not exported, or that this version does not know", row.Key)
	}
	if !shape.fits(string(row.Key[1:])) {
		return nil, 0, fmt.Errorf("key %q does not have the form of its kind", row.Key)
	}
	if shape.length > 0 && len(row.Value) != shape.length || shape.length < 0 && (len(row.Value) == 0 || len(row.Value)%8 != 0) {
		return nil, 0, fmt.Errorf("the value of key %q has %d bytes", row.Key, len(row.Value))
	}
	if shape.value == nil {
		return nil, 0, nil
	}
	m = shape.value()
	if err := command.Unmarshal(row.Value, m); err != nil {
		return nil, 0, fmt.Errorf("decode the value of key %q: %w", row.Key, err)
	}
	if shape.due == nil {
		return m, 0, nil
	}
	if due = shape.due(m); due < 0 {
		return nil, 0, fmt.Errorf("key %q falls due at %d, before 1970", row.Key, due)
	}
	return m, due, nil
}

func (s Shape) fits(key string) bool {
	for i := range s.ids {
		id, rest, ok := strings.Cut(key, kv.Separator)
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

// Expires reports whether rows of the shape may be in the wall queue.
func (s Shape) Expires() bool { return s.due != nil }
