// Package value applies the ops on values and files, and answers the reads of them.
package value
