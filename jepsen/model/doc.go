// Package model is the harness's own specification: what answers are right,
// written again from the documents and never with the state machine's code, so
// that no mistake hides itself.
//
// Where the order of an object's versions is in plain sight, Contradiction
// judges by a dependency graph; where it is not, porcupine searches for one.
package model
