// Package token applies the ops on tokens, and removes those that expire.
//
// Tokens belong to no scope. A token has a row under its id, and one in an index by principal. Once
// its row is gone, commits with the token are unauthenticated.
package token
