// Package txn holds what the nouns of the state machine share while a log entry is
// applied, and while a view is read.
//
// An Entry is one log entry: its rows, its stamps, the scopes that its commits
// change and what falls due. A Tx is one commit of it in one scope; an op reads and
// writes rows through it, and takes from it what every noun needs: incarnations,
// tombstones, expiry, quotas and the feed of changes. A Reader reads one scope of
// a view.
//
// An Entry and its Tx belong to the goroutine that applies. A Reader belongs to the
// goroutine that reads.
package txn
