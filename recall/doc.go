// Package recall finds what an agent remembers by its words and by vectors.
//
// An Index holds one agent's memories as of one state, in memory. A Cache keeps
// the indexes of the agents that were asked last, within a bound, and brings
// each up to the state that a reader sees: it builds an index from the store
// when it is first asked for, and from then on reads what has changed since.
// So an answer is exactly as of the reader's view, on any node.
//
// Nothing here writes, and nothing here is replicated: an index may be thrown
// away at any time.
package recall
