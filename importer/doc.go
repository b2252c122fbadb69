// Package importer brings conversations into a store and proves that they are
// there, and copies a scope out and in again.
//
// A transcripts file holds one conversation a line. Each becomes an agent: its
// messages are the entries of a thread, and its checkpoint, under the same
// name, points to the thread's end. Every message is one commit of the append,
// at the rev that it must be at, and the checkpoint. So an import can be
// interrupted at any moment and run again: it goes on where the stored thread
// ends, after comparing what is there with the file.
//
// An export holds all of a scope, one record a line; see Record.
//
// The package sees a store through agent.Service alone.
package importer
