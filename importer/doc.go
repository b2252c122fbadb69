// Package importer imports conversations into a store and verifies them. It
// also exports a scope to a file and imports it again.
//
// A transcripts file has one conversation a line. Each becomes an agent: a
// thread with its messages, and a checkpoint of the same name that points to
// the thread's end. Each message is one commit of an append at an expected rev
// and the checkpoint. An interrupted import can run again. It compares the
// stored entries with the file and continues at the thread's end.
//
// An export is a scope file; see ScopeFile.
//
// The package accesses a store through agent.Service only.
package importer
