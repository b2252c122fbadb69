package fsm

import (
	"fmt"
	"math"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

func encodeManagerOp(op agent.Op) *logpb.Op {
	switch o := op.(type) {
	case *agent.PutManager:
		return &logpb.Op{Op: &logpb.Op_PutManager{PutManager: &logpb.PutManager{
			Name: o.Manager.Name, Settings: encodeManager(&o.Manager), IfRevision: o.IfRevision,
		}}}
	case *agent.DeleteManager:
		return &logpb.Op{Op: &logpb.Op_DeleteManager{DeleteManager: &logpb.DeleteManager{Name: o.Name, IfRevision: o.IfRevision}}}
	case *agent.AnswerSignal:
		return &logpb.Op{Op: &logpb.Op_AnswerSignal{AnswerSignal: &logpb.AnswerSignal{Hash: o.Hash, Reply: o.Reply}}}
	default:
		return nil
	}
}

func decodePutManager(p *logpb.PutManager) *agent.PutManager {
	m := decodeManager(p.GetSettings())
	m.Name = p.GetName()
	o := &agent.PutManager{Manager: m}
	if p != nil {
		o.IfRevision = p.IfRevision
	}
	return o
}

// encodeManager is what a caller writes of a manager but its name.
func encodeManager(m *agent.Manager) *logpb.ManagerSettings {
	return &logpb.ManagerSettings{
		Handler:       &logpb.Handler{Kind: string(m.Handler.Kind), Name: m.Handler.Name, Url: m.Handler.URL, Key: m.Handler.Key},
		IdleTimeoutMs: millis(m.IdleTimeout), Durability: string(m.Durability), Storage: string(m.Storage), Version: m.Version,
		MailboxMax: uint64(max(m.MailboxMax, 0)), AwakeMax: uint64(max(m.AwakeMax, 0)),
		SignalTtlMs: millis(m.SignalTTL), AttachTtlMs: millis(m.AttachTTL), Track: m.Track, Untracked: m.Untracked, SkipsPersist: m.SkipsPersist, Metadata: m.Metadata,
		Schedules: m.Schedules,
	}
}

func decodeManager(p *logpb.ManagerSettings) agent.Manager {
	h := p.GetHandler()
	return agent.Manager{
		Handler:     agent.Handler{Kind: agent.HandlerKind(h.GetKind()), Name: h.GetName(), URL: h.GetUrl(), Key: h.GetKey()},
		IdleTimeout: duration(p.GetIdleTimeoutMs()), Durability: agent.Durability(p.GetDurability()), Storage: agent.Keeping(p.GetStorage()),
		Version: p.GetVersion(), MailboxMax: count(p.GetMailboxMax()), AwakeMax: count(p.GetAwakeMax()),
		SignalTTL: duration(p.GetSignalTtlMs()), AttachTTL: duration(p.GetAttachTtlMs()), Track: p.GetTrack(), Untracked: p.GetUntracked(),
		SkipsPersist: p.GetSkipsPersist(), Metadata: p.GetMetadata(), Schedules: p.GetSchedules(),
	}
}

// count is a number that fits an int on every machine.
func count(n uint64) int { return int(min(n, math.MaxInt32)) }

func decodeManagerRow(name string, raw []byte) (*logpb.ManagerRow, error) {
	row := &logpb.ManagerRow{}
	if err := unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode manager %q: %w", name, err)
	}
	return row, nil
}

// managerOf is a manager as callers see it.
func managerOf(name string, row *logpb.ManagerRow) *agent.Manager {
	m := decodeManager(row.GetSettings())
	m.Name, m.Incarnation, m.Revision = name, row.GetIncarnation(), row.GetRevision()
	m.CreatedAt, m.UpdatedAt = row.GetCreatedAt(), row.GetUpdatedAt()
	return &m
}

func encodeManagerResult(m *agent.Manager) *logpb.ManagerResult {
	return &logpb.ManagerResult{Name: m.Name, Manager: &logpb.ManagerRow{
		Settings: encodeManager(m), Incarnation: m.Incarnation, Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}}
}

// marshalRow encodes a row whose id is for the error.
func marshalRow(noun, id string, row coded) ([]byte, error) {
	raw, err := marshal(row)
	if err != nil {
		return nil, fmt.Errorf("encode %s %q: %w", noun, id, err)
	}
	return raw, nil
}
