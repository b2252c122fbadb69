// Package host makes a program a member of a cluster that keeps live instances
// and none of the data: it takes a node lease, owns partitions, and runs its Go
// handlers beside its own code.
//
// What a host believes is as old as its lease at most: the lease counts from
// before the call that renewed it, and only once the host's copy of the table,
// which any node streams to it, is as of that renewal. What it owned as of then
// nobody else is given while the lease stands. The fence judges every commit in
// any case. docs/adr/019-hosts.md has the reasons.
//
// A host is a member for as long as its lease stands. One that is gone, in order
// or not, leaves nothing behind.
package host
