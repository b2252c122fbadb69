// Package logpb is the format of the Raft log (log.proto) and of the rows of the state (rows.proto;
// session.proto has both for sessions), which are replayed and read for years. It is generated from
// these files.
package logpb
