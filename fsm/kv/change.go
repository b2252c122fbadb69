package kv

// Kinds of the feed; see keys.go for the form of all keys.
const (
	KindChange = "\x80" // scope, index → logpb.ChangeRow
	KindFeed   = "\x81" // scope → logpb.FeedRow; it outlives the scope
)

// ChangeKey returns the key of the changes of an entry in a scope.
func ChangeKey(scope string, index uint64) string {
	return ScopeKey(KindChange, scope) + EncodeNumber(index)
}

// FeedKey returns the key of a feed's row, in the form of an id, as all rows in the wall queue
// have.
func FeedKey(scope string) string { return IDKey(KindFeed, scope, "") }
