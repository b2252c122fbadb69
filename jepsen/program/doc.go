// Package program is a program that embeds Dormouse, as those who embed it
// write one: it takes part in a cluster as a host, and keeps counters that are Go
// values. The harness starts some of it beside the nodes, and harms them.
package program
