package kv

import (
	"encoding/binary"
	"slices"
	"strings"

	logpb "dormouse/proto/log"
)

// A key is kind ‖ scope ‖ 0 ‖ id ‖ 0 ‖ suffix. Scopes and ids hold no NUL. So keys sort by kind,
// then scope, then id, and no key is a prefix of another noun's. Keys are strings because they also
// name rows in maps.
//
// Kinds are part of the snapshot format and never reused.
const (
	KindSystem  = "\x01" // rows that exist once; the progress row has \x00
	KindMember  = "\x02" // member id → logpb.Member
	KindRemoved = "\x03" // incarnation → the id that it had

	// Placement. A restored backup has none of these rows.
	KindPartition      = "\x04" // partition → logpb.PartitionRow
	KindNodeLease      = "\x05" // node → logpb.NodeLeaseRow
	KindPlacementEvent = "\x06" // number → logpb.PlacementEvent
	KindDrained        = "\x07" // node → logpb.DrainedRow
	KindPartitionPin   = "\x08" // partition → logpb.PinRow

	KindClient   = "\x10" // scope, client → logpb.ClientRow
	KindAnswers  = "\x11" // scope, client, highest seq → logpb.AnswersRow
	KindDueTick  = "\x12" // tick, scope, client: when answers may be removed
	KindDueWall  = "\x13" // wall, row key: when the row may be removed
	KindDueClaim = "\x14" // tick, scope, claim: when the claim may have expired
	KindDueTimer = "\x15" // wall, row key: when the timer falls due

	KindScope     = "\x20" // scope → logpb.ScopeRecord
	KindImport    = "\x21" // scope → logpb.ImportRow, of the import that made the scope
	KindImportDue = "\x22" // scope, wall, row key: for the wall queue once the import ends

	// The data of a scope; ScopedKinds lists these.
	KindValue               = "\x30" // key → logpb.ValueRow
	KindValueBytes          = "\x31" // key → the bytes
	KindValueTombstone      = "\x32" // key → logpb.Tombstone
	KindCheckpoint          = "\x38" // key → logpb.CheckpointRow
	KindCheckpointHistory   = "\x39" // key, incarnation, revision → logpb.CheckpointRow, of older revisions
	KindCheckpointBody      = "\x3a" // key, incarnation, slot → logpb.CheckpointBody
	KindCheckpointTombstone = "\x3b" // key → logpb.Tombstone
	KindThread              = "\x40" // thread → logpb.ThreadMeta
	KindEntry               = "\x41" // thread, incarnation, seq → logpb.EntryRow
	KindEntryID             = "\x42" // thread, incarnation, entry id → seq; ids that callers chose
	KindSummary             = "\x43" // thread, incarnation → JSON
	KindPin                 = "\x44" // thread, checkpoint key: a checkpoint that points there
	KindForkPin             = "\x45" // thread, incarnation, fork, its incarnation: a fork that reads its rows
	KindThreadTombstone     = "\x46" // thread → logpb.Tombstone
	KindEntryKind           = "\x47" // thread, incarnation, block, kind, seq: entries by kind; see entry_kind.go
	KindShared              = "\x49" // thread, incarnation → seq, bytes: the rows below it that only forks read; see fsm/thread/shared.go
	KindClaim               = "\x48" // claim → logpb.ClaimRow
	KindErasure             = "\x8c" // agent → logpb.Erasure: the receipt, and the seal
	KindErasing             = "\x8d" // agent → incarnation, while rows below that incarnation are still to be removed
	KindEnding              = "\x8e" // agent: an index of those whose live instance must be ended; see fsm/erase_instance.go
	KindManager             = "\x90" // name → logpb.ManagerRow
	KindAgent               = "\x9a" // agent → how many of its rows are counted; see fsm/txn/count.go

	// The index of metadata; see metadata.go.
	KindMetadata      = "\xa8" // noun and key of metadata, hash of the value, id: an index
	KindMetadataBuild = "\xa9" // "" → the next row to add to the index, while it is being built

	// Tokens, which belong to no scope.
	KindToken          = "\xa0" // "", id → logpb.TokenRow
	KindTokenPrincipal = "\xa1" // "", principal, id: an index
)

// ScopedKinds are the kinds that are deleted with their scope.
var ScopedKinds = append([]string{
	KindValue, KindValueBytes, KindValueTombstone,
	KindCheckpoint, KindCheckpointHistory, KindCheckpointBody, KindCheckpointTombstone,
	KindThread, KindEntry, KindEntryID, KindEntryKind, KindSummary, KindPin, KindForkPin, KindShared, KindThreadTombstone,
	KindClaim, KindChange, KindErasure, KindErasing, KindEnding, KindManager, KindAgent, KindImport, KindImportDue, KindMetadata, KindMetadataBuild,
	KindMemory, KindMemoryBody, KindMemoryOrder, KindMemorySession, KindMemoryTime, KindMemoryAgent, KindMemoryGone, KindMemoryTombstone,
	KindMemoryList, KindMemoryPlace,
}, slices.Concat(sessionKinds, conversationKinds, timerKinds, deletionKinds)...)

// Separator ends scopes and ids in keys.
const Separator = "\x00"

// ScopeKey returns the row key of a scope, which is the prefix of all its keys.
func ScopeKey(kind, scope string) string { return kind + scope + Separator }

// IDKey returns the row key of an id in a scope, which is the prefix of the keys of its parts.
func IDKey(kind, scope, id string) string { return kind + scope + Separator + id + Separator }

// EntryKey names an entry's row.
func EntryKey(scope, thread string, incarnation, seq uint64) string {
	var n [16]byte
	binary.BigEndian.PutUint64(n[:8], incarnation)
	binary.BigEndian.PutUint64(n[8:], seq)
	return KindEntry + scope + Separator + thread + Separator + string(n[:])
}

// IncarnationKey begins the keys of the parts of one incarnation of an id.
func IncarnationKey(kind, scope, id string, incarnation uint64) string {
	return kind + scope + Separator + id + Separator + string(binary.BigEndian.AppendUint64(nil, incarnation))
}

// BodyKey names the row of a revision's body.
func BodyKey(scope, key string, row *logpb.CheckpointRow) string {
	return SlotKey(scope, key, row.Incarnation, row.Slot)
}

// SlotKey names the body row in a slot of a checkpoint's incarnation.
func SlotKey(scope, key string, incarnation, slot uint64) string {
	return RevisionKey(KindCheckpointBody, scope, key, incarnation, slot)
}

// RevisionKey names the row of a revision of one incarnation of an id.
func RevisionKey(kind, scope, id string, incarnation, revision uint64) string {
	var n [16]byte
	binary.BigEndian.PutUint64(n[:8], incarnation)
	binary.BigEndian.PutUint64(n[8:], revision)
	return kind + scope + Separator + id + Separator + string(n[:])
}

// EntryIDKey names the row that maps a chosen entry id to its seq.
func EntryIDKey(scope, thread string, incarnation uint64, id string) string {
	return IncarnationKey(KindEntryID, scope, thread, incarnation) + id
}

// PinKey names the row that records that a checkpoint points to a thread.
func PinKey(scope, thread, checkpoint string) string {
	return IDKey(KindPin, scope, thread) + checkpoint
}

// ForkPinKey names the row that records that a fork reads rows of a thread.
func ForkPinKey(scope, thread string, incarnation uint64, fork string, forkIncarnation uint64) string {
	return IncarnationKey(KindForkPin, scope, thread, incarnation) + fork + Separator + EncodeNumber(forkIncarnation)
}

// AnswersKey names the row of a client's answers up to a sequence number.
func AnswersKey(scope, client string, highest uint64) string {
	return IDKey(KindAnswers, scope, client) + EncodeNumber(highest)
}

// DueTickKey returns the key of a client's answers in the tick queue.
func DueTickKey(tick uint64, scope, client string) string {
	return KindDueTick + EncodeNumber(tick) + scope + Separator + client
}

// DueClaimKey returns the key of a claim in the claim queue.
func DueClaimKey(tick uint64, scope, claim string) string {
	return KindDueClaim + EncodeNumber(tick) + scope + Separator + claim
}

// PartitionKey names a partition's row.
func PartitionKey(n int) string {
	return KindPartition + string(binary.BigEndian.AppendUint16(nil, uint16(n)))
}

// PartitionPinKey names the row of a partition's pin.
func PartitionPinKey(n int) string {
	return KindPartitionPin + string(binary.BigEndian.AppendUint16(nil, uint16(n)))
}

// DueWallKey returns the key of a row in the wall queue. wall is not negative.
func DueWallKey(wall int64, row string) string {
	return KindDueWall + EncodeNumber(uint64(wall)) + row
}

// DueTimerKey returns the key of a row in the queue of timers. wall is not negative.
func DueTimerKey(wall int64, row string) string {
	return KindDueTimer + EncodeNumber(uint64(wall)) + row
}

// SplitDue splits a queue's key into the time and the rest.
func SplitDue(key string) (when uint64, rest string, ok bool) {
	if len(key) < 9 {
		return 0, "", false
	}
	return DecodeNumber(key[1:9]), key[9:], true
}

// SplitID splits kind ‖ scope ‖ 0 ‖ id ‖ 0.
func SplitID(key string) (kind, scope, id string, ok bool) {
	if key == "" {
		return "", "", "", false
	}
	scope, rest, ok := strings.Cut(key[1:], Separator)
	if !ok {
		return "", "", "", false
	}
	id, rest, ok = strings.Cut(rest, Separator)
	return key[:1], scope, id, ok && rest == ""
}

// EncodeNumber encodes n such that encodings sort as numbers do.
func EncodeNumber(n uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return string(b[:])
}

// DecodeNumber decodes the eight bytes of EncodeNumber; it returns 0 for any other length.
func DecodeNumber[T string | []byte](b T) uint64 {
	if len(b) != 8 {
		return 0
	}
	var n uint64
	for i := range len(b) {
		n = n<<8 | uint64(b[i])
	}
	return n
}

// After returns the least key that does not begin with prefix: the upper bound of a scan over the
// prefix.
func After(prefix string) string {
	upper := []byte(prefix)
	for i := len(upper) - 1; i >= 0; i-- {
		if upper[i] < 0xff {
			upper[i]++
			return string(upper[:i+1])
		}
	}
	return "" // no key is greater than all 0xff, and no kind is 0xff
}
