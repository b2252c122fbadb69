package fsm

import (
	"encoding/binary"
	"slices"
	"strings"

	logpb "dormouse/proto/log"
)

// A key is kind ‖ scope ‖ 0 ‖ id ‖ 0 ‖ suffix. Scopes and ids hold no NUL, so
// keys sort by kind, then scope, then id, and no key is the beginning of
// another noun's. Keys are strings: they name rows in maps too.
//
// Kinds are part of the snapshot format and never reused.
const (
	kindSystem  = "\x01" // what there is one of; progress.go's row is \x00
	kindMember  = "\x02" // member id → logpb.Member
	kindRemoved = "\x03" // incarnation → the id that it had

	// Who owns what. A restored backup has none of these rows.
	kindPartition      = "\x04" // partition → logpb.PartitionRow
	kindNodeLease      = "\x05" // node → logpb.NodeLeaseRow
	kindPlacementEvent = "\x06" // number → logpb.PlacementEvent

	kindClient   = "\x10" // scope, client → logpb.ClientRow
	kindAnswers  = "\x11" // scope, client, highest seq → logpb.AnswersRow
	kindDueTick  = "\x12" // tick, scope, client: when answers may go
	kindDueWall  = "\x13" // wall, row key: when the row may go
	kindDueClaim = "\x14" // tick, scope, claim: when the claim may have lapsed

	kindScope     = "\x20" // scope → logpb.ScopeRecord
	kindImport    = "\x21" // scope → logpb.ImportRow, of the import that made the scope
	kindImportDue = "\x22" // scope, wall, row key: when the row may go, for the queue once the import ends

	// What is in a scope; scopedKinds lists them.
	kindValue               = "\x30" // key → logpb.ValueRow
	kindValueBytes          = "\x31" // key → the bytes
	kindValueTombstone      = "\x32" // key → logpb.Tombstone
	kindCheckpoint          = "\x38" // key → logpb.CheckpointRow
	kindCheckpointHistory   = "\x39" // key, incarnation, revision → logpb.CheckpointRow, of older revisions
	kindCheckpointBody      = "\x3a" // key, incarnation, slot → logpb.CheckpointBody
	kindCheckpointTombstone = "\x3b" // key → logpb.Tombstone
	kindThread              = "\x40" // thread → logpb.ThreadMeta
	kindEntry               = "\x41" // thread, incarnation, seq → logpb.EntryRow
	kindEntryID             = "\x42" // thread, incarnation, entry id → seq; ids that callers chose
	kindSummary             = "\x43" // thread, incarnation → JSON
	kindPin                 = "\x44" // thread, checkpoint key: a checkpoint that points there
	kindForkPin             = "\x45" // thread, incarnation, fork, its incarnation: a fork that reads its rows
	kindThreadTombstone     = "\x46" // thread → logpb.Tombstone
	kindEntryKind           = "\x47" // thread, incarnation, block, kind, seq: entries by kind; see entry_kind.go
	kindClaim               = "\x48" // claim → logpb.ClaimRow
	kindErasure             = "\x8c" // agent → logpb.Erasure: the receipt, and the seal
	kindErasing             = "\x8d" // agent → incarnation, while what is of it below that is still to be cleared away
	kindEnding              = "\x8e" // agent: an index of those whose live instance is to be ended; see erase_instance.go
	kindManager             = "\x90" // name → logpb.ManagerRow
)

// scopedKinds are the kinds that go with their scope.
var scopedKinds = append([]string{
	kindValue, kindValueBytes, kindValueTombstone,
	kindCheckpoint, kindCheckpointHistory, kindCheckpointBody, kindCheckpointTombstone,
	kindThread, kindEntry, kindEntryID, kindEntryKind, kindSummary, kindPin, kindForkPin, kindThreadTombstone,
	kindClaim, kindChange, kindErasure, kindErasing, kindEnding, kindManager, kindImport, kindImportDue,
	kindMemory, kindMemoryBody, kindMemoryOrder, kindMemorySession, kindMemoryTime, kindMemoryAgent, kindMemoryGone, kindMemoryTombstone,
	kindMemoryList, kindMemoryPlace,
}, slices.Concat(sessionKinds, conversationKinds, timerKinds)...)

const separator = "\x00"

// scopeKey names the row of a scope, and begins the keys of all that is in it.
func scopeKey(kind, scope string) string { return kind + scope + separator }

// idKey names the row of an id in a scope, and begins the keys of its parts.
func idKey(kind, scope, id string) string { return kind + scope + separator + id + separator }

// entryKey names an entry's row.
func entryKey(scope, thread string, incarnation, seq uint64) string {
	var n [16]byte
	binary.BigEndian.PutUint64(n[:8], incarnation)
	binary.BigEndian.PutUint64(n[8:], seq)
	return kindEntry + scope + separator + thread + separator + string(n[:])
}

// incarnationKey begins the keys of the parts of one incarnation of an id.
func incarnationKey(kind, scope, id string, incarnation uint64) string {
	return kind + scope + separator + id + separator + string(binary.BigEndian.AppendUint64(nil, incarnation))
}

// bodyKey names the row of a revision's body.
func bodyKey(scope, key string, row *logpb.CheckpointRow) string {
	return slotKey(scope, key, row.Incarnation, row.Slot)
}

func slotKey(scope, key string, incarnation, slot uint64) string {
	return revisionKey(kindCheckpointBody, scope, key, incarnation, slot)
}

func revisionKey(kind, scope, id string, incarnation, revision uint64) string {
	var n [16]byte
	binary.BigEndian.PutUint64(n[:8], incarnation)
	binary.BigEndian.PutUint64(n[8:], revision)
	return kind + scope + separator + id + separator + string(n[:])
}

func entryIDKey(scope, thread string, incarnation uint64, id string) string {
	return incarnationKey(kindEntryID, scope, thread, incarnation) + id
}

func pinKey(scope, thread, checkpoint string) string {
	return idKey(kindPin, scope, thread) + checkpoint
}

func forkPinKey(scope, thread string, incarnation uint64, fork string, forkIncarnation uint64) string {
	return incarnationKey(kindForkPin, scope, thread, incarnation) + fork + separator + encodeNumber(forkIncarnation)
}

func answersKey(scope, client string, highest uint64) string {
	return idKey(kindAnswers, scope, client) + encodeNumber(highest)
}

func dueTickKey(tick uint64, scope, client string) string {
	return kindDueTick + encodeNumber(tick) + scope + separator + client
}

func dueClaimKey(tick uint64, scope, claim string) string {
	return kindDueClaim + encodeNumber(tick) + scope + separator + claim
}

func partitionKey(n int) string {
	return kindPartition + string(binary.BigEndian.AppendUint16(nil, uint16(n)))
}

// dueWallKey names what is to happen to row at a wall time, which is not
// negative.
func dueWallKey(wall int64, row string) string {
	return kindDueWall + encodeNumber(uint64(wall)) + row
}

// splitDue takes a queue's key apart: when, and what follows it.
func splitDue(key string) (when uint64, rest string, ok bool) {
	if len(key) < 9 {
		return 0, "", false
	}
	return decodeNumber(key[1:9]), key[9:], true
}

// splitID takes kind ‖ scope ‖ 0 ‖ id ‖ 0 apart.
func splitID(key string) (kind, scope, id string, ok bool) {
	if key == "" {
		return "", "", "", false
	}
	scope, rest, ok := strings.Cut(key[1:], separator)
	if !ok {
		return "", "", "", false
	}
	id, rest, ok = strings.Cut(rest, separator)
	return key[:1], scope, id, ok && rest == ""
}

// encodeNumber keeps the order of numbers.
func encodeNumber(n uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return string(b[:])
}

// decodeNumber reads the eight bytes of encodeNumber, and 0 from any others.
func decodeNumber[T string | []byte](b T) uint64 {
	if len(b) != 8 {
		return 0
	}
	var n uint64
	for i := range len(b) {
		n = n<<8 | uint64(b[i])
	}
	return n
}

// after is the least key that does not begin with prefix: the upper bound of
// a scan over all that do.
func after(prefix string) string {
	upper := []byte(prefix)
	for i := len(upper) - 1; i >= 0; i-- {
		if upper[i] < 0xff {
			upper[i]++
			return string(upper[:i+1])
		}
	}
	return "" // no key is greater than all 0xff, and no kind is one
}
