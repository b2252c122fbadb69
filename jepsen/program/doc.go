// Package program is an example of a program that embeds Dormouse. It joins a cluster
// as a host and keeps counters that are Go values. The harness starts some of these
// programs beside the nodes and injects faults into them.
package program
