// Package membership forms a cluster and changes its members.
//
// Joiner is the side of the node that joins: it founds a cluster or asks to join
// one, keeps the node's member row up to date, and ends when the cluster has
// removed the node. Leader is the side of the leader: it admits nodes, gives votes
// to those that have caught up, carries out an operator's changes, and hands
// leadership over. The voters change one at a time, through the log.
//
// Roster answers questions about members and voters on any node.
package membership
