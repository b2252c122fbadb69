// Package memory applies the ops on what agents remember, and answers the reads of it.
//
// Rows hold memories in the orders of their writes and their observations. Words and
// vectors are found in an index in memory, which follows the rows: see package recall.
package memory
