// Package transport carries Raft and peer traffic between the nodes and hosts
// of a cluster.
//
// Every connection begins with a handshake, in which both sides name their
// cluster, node, data directory and process (Stream). Nodes of different
// clusters, and nodes that were removed, never exchange anything else. A node
// that belongs to no cluster may ask to join one, and takes no part in Raft.
//
// Guard wraps Raft's own transport and keeps from Raft the messages that would
// break it. The comments name the upstream issues.
package transport
