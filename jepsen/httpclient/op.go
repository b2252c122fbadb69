package httpclient

import (
	"encoding/json"
	"fmt"
	"time"

	"dormouse/agent"
)

// members are the members of a document. A nil or zero member is left out.
type members map[string]any

// set adds a member unless it has its zero value.
func set[T comparable](m members, name string, value T) {
	var zero T
	if value != zero {
		m[name] = value
	}
}

func (m members) revision(name string, value *uint64) {
	if value != nil {
		m[name] = *value
	}
}

func (m members) json(name string, value agent.JSON) {
	if value != nil {
		m[name] = json.RawMessage(value)
	}
}

func (m members) duration(name string, d time.Duration) { set(m, name, d.Milliseconds()) }

func (m members) skip(skip bool) {
	if skip {
		m["on_exists"] = "skip"
	}
}

// opDocuments returns the documents of a commit's ops.
func opDocuments(ops []agent.Op) ([]members, error) {
	docs := make([]members, len(ops))
	for i, op := range ops {
		var err error
		if docs[i], err = opDocument(op); err != nil {
			return nil, agent.Errorf(agent.CodeInvalid, "%v", err)
		}
	}
	return docs, nil
}

// opDocument returns the document of an op in POST /v1/commits. The error says that this
// client does not speak the op.
func opDocument(op agent.Op) (members, error) {
	switch op := op.(type) {
	case *agent.PutValue:
		return putValue(op)
	case *agent.DeleteValue:
		m := removal("delete_value", "key", op.Key, op.IfIncarnation, op.Seal)
		m.revision("if_revision", op.IfRevision)
		if op.IfBytes != nil {
			m["if_bytes"] = *op.IfBytes
		}
		return m, nil
	case *agent.PutCheckpoint:
		return putCheckpoint(op), nil
	case *agent.PatchCheckpoint:
		m := members{"op": "patch_checkpoint", "key": op.Key, "patch": json.RawMessage(op.Patch)}
		m.revision("if_revision", op.IfRevision)
		set(m, "if_incarnation", op.IfIncarnation)
		set(m, "upsert", op.Upsert)
		set(m, "shallow", op.Shallow)
		return m, nil
	case *agent.DeleteCheckpoint:
		m := removal("delete_checkpoint", "key", op.Key, op.IfIncarnation, op.Seal)
		m.revision("if_revision", op.IfRevision)
		return m, nil
	case *agent.PutScope:
		return putScope(op)
	default:
		return threadOrClaim(op)
	}
}

// threadOrClaim returns the document of an op on a thread or a claim.
func threadOrClaim(op agent.Op) (members, error) {
	switch op := op.(type) {
	case *agent.AppendThread:
		return appendThread(op), nil
	case *agent.HibernateThread:
		m := members{"op": "hibernate_thread", "thread": op.Thread, "rev": op.Rev, "from_seq": op.FromSeq, "entries": drafts(op.Entries)}
		m.json("metadata", op.Metadata)
		set(m, "if_incarnation", op.IfIncarnation)
		return m, nil
	case *agent.DeleteThread:
		return removal("delete_thread", "thread", op.Thread, op.IfIncarnation, op.Seal), nil
	case *agent.CompactThread:
		m := members{"op": "compact_thread", "thread": op.Thread, "before_seq": op.BeforeSeq}
		m.json("summary", op.Summary)
		set(m, "if_incarnation", op.IfIncarnation)
		return m, nil
	case *agent.TakeClaim:
		m := members{"op": "take_claim", "claim": op.Claim, "holder": op.Holder}
		m.duration("ttl_ms", op.TTL)
		return m, nil
	case *agent.RenewClaim:
		m := members{"op": "renew_claim", "claim": op.Claim, "holder": op.Holder, "epoch": op.Epoch}
		m.duration("ttl_ms", op.TTL)
		return m, nil
	case *agent.ReleaseClaim:
		m := members{"op": "release_claim", "claim": op.Claim, "holder": op.Holder, "epoch": op.Epoch}
		set(m, "to", op.To)
		m.duration("ttl_ms", op.TTL)
		return m, nil
	default:
		return formedOp(op)
	}
}

func removal(name, noun, key string, incarnation uint64, seal time.Duration) members {
	m := members{"op": name, noun: key}
	set(m, "if_incarnation", incarnation)
	m.duration("seal_ms", seal)
	return m
}

func putValue(op *agent.PutValue) (members, error) {
	m := members{"op": "put_value", "key": op.Key, "bytes": op.Bytes}
	set(m, "content_type", op.ContentType)
	m.json("metadata", op.Metadata)
	m.duration("ttl_ms", op.TTL)
	m.revision("if_revision", op.IfRevision)
	set(m, "if_incarnation", op.IfIncarnation)
	m.skip(op.SkipExisting)
	switch {
	case op.IfBytes == nil:
	case *op.IfBytes != nil:
		m["if_bytes"] = *op.IfBytes
	case op.IfRevision != nil:
		return nil, fmt.Errorf("a document has no if_bytes for a missing value beside if_revision")
	default: // it must not exist
		m["if_revision"] = 0
	}
	return m, nil
}

func putCheckpoint(op *agent.PutCheckpoint) members {
	m := members{"op": "put_checkpoint", "key": op.Key, "state": json.RawMessage(op.State)}
	if op.State == nil {
		m["state"] = nil
	}
	set(m, "version", op.Version)
	if p := op.Thread; p != nil {
		at := members{"id": p.Thread, "rev": p.Rev}
		set(at, "head", p.Head)
		set(at, "incarnation", p.Incarnation)
		m["thread"] = at
	}
	set(m, "lifecycle", op.Lifecycle)
	m.json("metadata", op.Metadata)
	m.duration("ttl_ms", op.TTL)
	m.revision("if_revision", op.IfRevision)
	set(m, "if_incarnation", op.IfIncarnation)
	m.skip(op.SkipExisting)
	return m
}

func appendThread(op *agent.AppendThread) members {
	m := members{"op": "append_thread", "thread": op.Thread, "entries": drafts(op.Entries)}
	m.revision("expected_rev", op.ExpectedRev)
	set(m, "expected_head", op.ExpectedHead)
	m.json("metadata", op.Metadata)
	set(m, "if_incarnation", op.IfIncarnation)
	m.skip(op.SkipExisting)
	set(m, "create_only", op.CreateOnly)
	return m
}

func drafts(all []agent.Draft) []members {
	out := make([]members, len(all))
	for i, d := range all {
		m := members{}
		set(m, "id", d.ID)
		if d.At != nil {
			m["at"] = *d.At
		}
		set(m, "kind", d.Kind)
		m.json("payload", d.Payload)
		m.json("refs", d.Refs)
		set(m, "content_type", d.ContentType)
		if d.Bytes != nil {
			m["bytes"] = d.Bytes
		}
		out[i] = m
	}
	return out
}

// putScope returns the document of a policy that sets only quotas of keys, bytes and
// threads.
func putScope(op *agent.PutScope) (members, error) {
	p := op.Policy
	m := members{"op": "put_scope"}
	set(m, "keys_max", p.KeysMax)
	set(m, "bytes_max", p.BytesMax)
	set(m, "threads_max", p.ThreadsMax)
	if op.Default || op.UseDefault || op.IfPolicy != nil || p != (agent.Policy{KeysMax: p.KeysMax, BytesMax: p.BytesMax, ThreadsMax: p.ThreadsMax}) {
		return nil, fmt.Errorf("this HTTP client sets only quotas of keys, bytes and threads")
	}
	return m, nil
}
