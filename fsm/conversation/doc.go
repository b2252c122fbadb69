// Package conversation applies the ops on conversations and their messages, and
// answers the reads of them.
//
// A conversation is the state that an agent goes on from, the messages that wait for
// it, and the messages that people see.
package conversation
