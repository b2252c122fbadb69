// Package mcp serves memories, threads, sessions and reviews of a scope over the Model Context Protocol
// (revision 2025-11-25), over stdio or streamable HTTP.
//
// Over HTTP the state of a session is in the cluster: what a client was sent is kept in threads, and
// the parameters of its initialization in a value. So a client resumes its streams on any other process
// that serves the same scope, after the one that it used has died.
package mcp
