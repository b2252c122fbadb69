// Package deletion deletes all values, checkpoints or threads whose key begins with a prefix.
//
// The op takes effect at its entry: see txn/deletion.go. It removes the first rows, and the entries
// that follow remove the rest step by step. The receipt counts what was removed.
package deletion
