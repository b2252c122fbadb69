// Package proto holds the wire formats: api (public), peer (node to node) and
// log (Raft entries and snapshots). Their Go code is committed.
package proto

//go:generate go run ../internal/protogen .. proto/api/agent.proto proto/api/api.proto proto/api/change.proto proto/api/conversation.proto proto/api/instance.proto proto/api/instance_watch.proto proto/api/manager.proto proto/api/memory.proto proto/api/placement.proto proto/api/session.proto proto/api/timer.proto proto/api/token.proto proto/log/agent.proto proto/log/change.proto proto/log/conversation.proto proto/log/log.proto proto/log/manager.proto proto/log/memory.proto proto/log/placement.proto proto/log/rows.proto proto/log/session.proto proto/log/timer.proto proto/log/token.proto proto/op/agent.proto proto/op/conversation.proto proto/op/manager.proto proto/op/memory.proto proto/op/op.proto proto/op/session.proto proto/op/timer.proto proto/op/token.proto proto/peer/handler.proto proto/peer/host.proto proto/peer/peer.proto
