// Package cluster runs one Raft group. A Group opens, runs and ends the parts that
// have packages of their own:
//
//   - raftlog: the log's stores, hardened against what disks do;
//   - transport: connections, handshakes, and the guard round Raft's transport;
//   - proposer: packs commits into log entries, and answers linearizable reads;
//   - membership: forms the cluster and changes its members;
//   - assign: decides who owns which partition, and keeps this node's lease.
//
// A leader proposes and answers reads only once a Raft barrier of its own term has
// returned and its clock has started. The clock stamps each entry with ticks, which
// count the time during which there was a leader, and wall time, which never runs
// back.
package cluster
