// Package txn holds what the nouns of the state machine share while a log entry is applied, and
// while a view is read.
//
// An Entry is one log entry: its rows, its stamps, the scopes that its commits change and the due
// times. A Tx is one commit of it in one scope. An op reads and writes rows through it, and uses
// its shared functions: incarnations, tombstones, expiry, quotas and the feed of changes. A Reader
// reads one scope of a view.
//
// An Entry and its Tx belong to the applying goroutine. A Reader belongs to the goroutine that
// reads.
package txn
