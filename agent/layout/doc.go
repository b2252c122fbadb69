// Package layout describes a cluster: its members, their leases, the partitions of the
// instances' keys and their owners, the calls of operators, and the turns that one
// process sends to another. Like agent, it is pure.
package layout
