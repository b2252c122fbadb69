// Package eino is a checkpoint store of github.com/cloudwego/eino on Dormouse, for graphs
// of package compose and for runners and turn loops of package adk.
//
// A checkpoint is a value of one scope. It is stored on a majority of the nodes when Set
// returns, and Get reads the last one on each node: a run that was interrupted in one
// process resumes in any other. See Once for runs that two processes resume at a time.
package eino
