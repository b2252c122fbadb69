package fsm

// Kinds of the feed; keys.go says what all keys have in common.
const (
	kindChange = "\x80" // scope, index → logpb.ChangeRow
	kindFeed   = "\x81" // scope → logpb.FeedRow; it outlives the scope
)

func changeKey(scope string, index uint64) string {
	return scopeKey(kindChange, scope) + encodeNumber(index)
}

// feedKey names a feed's row as one of an id, as all that falls due is named.
func feedKey(scope string) string { return idKey(kindFeed, scope, "") }
