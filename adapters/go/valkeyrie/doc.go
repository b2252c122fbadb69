// Package valkeyrie is a store of github.com/kvtools/valkeyrie on Dormouse.
//
// A key is a value of one scope, and a lock is a claim of the same name. All reads are
// linearizable, on each node. An atomic write compares the revision and the incarnation
// that the pair was read at, so a key that was deleted and created again is another one.
//
// The package registers itself under StoreName, for valkeyrie.NewStore.
package valkeyrie
