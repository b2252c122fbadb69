// Package model is the harness's own specification of correct answers. It is written
// from the documents and shares no code with the state machine, so a mistake in one
// does not hide in the other.
//
// If the versions of an object show the order of its writes, Contradiction judges with
// a dependency graph. Otherwise porcupine searches for an order.
package model
