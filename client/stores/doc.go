// Package stores has interfaces for the state of agents, as programs are likely to
// have them already, and implements each of them with Dormouse:
//
//	Checkpointer   Checkpoints   states by key, with revisions and history
//	ThreadStore    Threads       threads, with the older save that overwrites
//	SessionStore   client.Scope  sessions
//	SessionLeases  client.Scope  the six calls of turns with leases
//	MemoryStore    Memories      memories
//	ConversationStore, MessageStore
//	               Conversations states, pending messages, and what people see
//	FileStore      Files         files by path
//
// Code that uses an interface is tested with a fake, or with nodetest, and runs on a
// *client.Client:
//
//	var threads stores.ThreadStore = stores.Threads{Scope: c.Scope}
//
// Each call is one commit or one read of the store's Scope, with its scope, its fence
// and its retries. Errors are *agent.Error; a missing object is agent.ErrNotFound.
// Writes are linearizable and apply at most once, and reads see all earlier writes.
// All methods may be called concurrently.
package stores
