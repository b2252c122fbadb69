// Package node builds one node from a configuration. It opens the parts in order, runs them, and
// stops them in reverse order. Only this package connects the parts; no part reads the
// configuration.
//
// A fault after which the node cannot keep its guarantees ends it with an ExitError, whose exit
// code the daemon returns. Such faults are a failed or hung write, an entry that it cannot apply,
// or its removal. A node that cannot write stops; it does not continue in a degraded mode.
package node
