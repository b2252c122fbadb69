// Package recall searches an agent's memories by words and by vectors.
//
// An Index holds one agent's memories at one state, in memory. A Cache keeps
// the most recently used indexes, up to a limit. It builds an index from the
// store at its first use, and reads only changes from then on. So a search sees
// exactly the memories of the reader's view, on any node.
//
// Indexes are not replicated and may be discarded at any time.
package recall
