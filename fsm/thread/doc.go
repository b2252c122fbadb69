// Package thread applies the ops on threads and answers the reads of them.
//
// A thread is an append-only journal. A fork shares the entries of its source below
// the rev at which it was made: its segments say which thread has which entries.
package thread
