// Package thread applies the ops on threads and answers the reads of them.
//
// A thread is an append-only journal. A fork shares the entries of its source below the rev of the
// fork: its segments list which thread stores which entries.
package thread
