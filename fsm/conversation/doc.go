// Package conversation applies the ops on conversations and their messages, and answers the reads
// of them.
//
// A conversation is the state from which an agent continues, the messages pending for it, and the
// messages that people see.
package conversation
