// Package redis serves values over the protocol of Redis (RESP2 and RESP3), for programs that have
// a Redis client and no client of Dormouse, such as Jido.Storage.Redis.
//
// It serves a subset of the commands: see table.go. All keys of a server are values of one scope.
// Each command is a commit or a read of agent.Service, so writes are linearizable and replicated, and
// the guard of package access checks them. A transaction (MULTI, EXEC) is one commit.
//
// The server runs no Lua. It recognizes the text of one script, the compare-and-set of
// Jido.Persistence.Redis, and does what that script does.
package redis
