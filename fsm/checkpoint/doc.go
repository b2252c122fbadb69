// Package checkpoint applies the ops on checkpoints and answers the reads of them.
//
// A checkpoint is the state of an agent at a moment, as revisions under one key. The scope's policy
// says how many revisions are kept. A revision may hold a pointer: a thread, and the rev of it that
// belongs to the state.
package checkpoint
