// Package attack attacks a real node from outside, as callers that lack a token or a right do. Each
// test is a promise of docs/security.md.
package attack
