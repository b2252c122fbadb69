// Package scoperow describes the rows that exports and imports of a scope move: the form of each kind, and what a
// row counts for in its scope.
package scoperow
