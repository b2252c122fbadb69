// Package stores has the interfaces that a program is likely to have already
// for what its agents leave behind, and Dormouse behind each of them:
//
//	Checkpointer   Checkpoints   states by key, with revisions and history
//	ThreadStore    Threads       journals, with the older save that overwrites
//	SessionStore   client.Scope  sessions, and
//	SessionLeases  client.Scope  the six calls under which their turns run
//	MemoryStore    Memories      what agents remember
//	ConversationStore, MessageStore
//	               Conversations what an agent goes on from, and what people see
//	FileStore      Files         files by path
//
// Code that takes an interface is tested against a fake of its own, or against
// nodetest, and runs on a *client.Client:
//
//	var threads stores.ThreadStore = stores.Threads{Scope: c.Scope}
//
// All are thin: each call is one commit or read of the Scope that the store was
// given, with its scope, its fence and its retries. Errors are *agent.Error;
// what is not there is agent.ErrNotFound. Writes are linearizable and apply at
// most once, reads see all writes before them, and all methods may be called
// concurrently.
package stores
