// Package node builds one node from a configuration: it opens the parts in
// order, runs them, and stops them in reverse. Only it sees both sides of a
// seam; no part sees the configuration.
//
// A fault that means the node can no longer keep its promises (a failed or
// hung write, an entry it cannot apply, being removed) ends it with an ExitError,
// whose exit code the daemon passes on. A node that cannot write stops; it
// does not limp.
package node
