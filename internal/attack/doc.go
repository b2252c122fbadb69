// Package attack has black-box tests of what an attacker who reaches a node's ports
// must not get. Each test is a finding of a security audit, and failed before the
// finding was closed. docs/security.md says what is promised. "make attack" runs them.
package attack
