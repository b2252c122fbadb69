// Package sim runs the whole product in one process, in virtual time, over a simulated
// network and simulated disks. One seed draws all faults, all settings, all calls and, in
// a program that is built with the overlay of package overlay, the schedule, so that the
// same seed gives the same run, bit for bit.
//
// The nodes are node.Node, whole: Raft, the state machine on Pebble, placement, instances,
// gossip and the servers. The clients are package client's, over gRPC, and
// jepsen/httpclient's, over HTTP. The workloads and the judges are those of package jepsen.
package sim
