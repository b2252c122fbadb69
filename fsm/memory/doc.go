// Package memory applies the ops on agents' memories, and answers the reads of them.
//
// Rows hold memories in the orders of their writes and their observations. Text and vector searches
// use an in-memory index, which follows the rows: see package recall.
package memory
