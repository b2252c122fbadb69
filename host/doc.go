// Package host makes a program a member of a cluster that runs live instances
// but stores no data. The program takes a node lease, owns partitions, and runs
// its Go handlers in its own process.
//
// A host's view of the partitions is at most as old as its lease. The lease
// counts from before the call that renewed it. It is valid only once the host's
// copy of the table includes the renewal; any node streams the table. While the
// lease is valid no other process gets the host's partitions. The fence checks
// every commit in any case. See docs/adr/019-hosts.md.
//
// A host is a member while its lease is valid, and leaves no trace afterwards.
package host
