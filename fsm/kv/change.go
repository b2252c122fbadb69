package kv

// Kinds of the feed; keys.go says what all keys have in common.
const (
	KindChange = "\x80" // scope, index → logpb.ChangeRow
	KindFeed   = "\x81" // scope → logpb.FeedRow; it outlives the scope
)

// ChangeKey names the row of what the entry at an index changed in a scope.
func ChangeKey(scope string, index uint64) string {
	return ScopeKey(KindChange, scope) + EncodeNumber(index)
}

// FeedKey names a feed's row as one of an id, as all that falls due is named.
func FeedKey(scope string) string { return IDKey(KindFeed, scope, "") }
