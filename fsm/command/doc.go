// Package command holds the commands of the state machine as the log and the
// engine hold them: the frame of a log entry, and the codecs of commits, ops,
// outcomes and rows. It converts between the types of package agent and those of
// package proto/log, and decides nothing.
package command
