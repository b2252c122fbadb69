package command

import (
	"math"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// EncodeManager encodes the fields of a manager that a caller writes, except its name.
func EncodeManager(m *agent.Manager) *logpb.ManagerSettings {
	return &logpb.ManagerSettings{
		Handler:       &logpb.Handler{Kind: string(m.Handler.Kind), Name: m.Handler.Name, Url: m.Handler.URL, Key: m.Handler.Key},
		IdleTimeoutMs: Millis(m.IdleTimeout), Durability: string(m.Durability), Storage: string(m.Storage), Version: m.Version,
		MailboxMax: uint64(max(m.MailboxMax, 0)), AwakeMax: uint64(max(m.AwakeMax, 0)),
		SignalTtlMs: Millis(m.SignalTTL), AttachTtlMs: Millis(m.AttachTTL), Track: m.Track, Untracked: m.Untracked, SkipsPersist: m.SkipsPersist, Metadata: m.Metadata,
		Schedules: m.Schedules,
	}
}

func decodeManager(p *logpb.ManagerSettings) agent.Manager {
	h := p.GetHandler()
	return agent.Manager{
		Handler:     agent.Handler{Kind: agent.HandlerKind(h.GetKind()), Name: h.GetName(), URL: h.GetUrl(), Key: h.GetKey()},
		IdleTimeout: Duration(p.GetIdleTimeoutMs()), Durability: agent.Durability(p.GetDurability()), Storage: agent.Keeping(p.GetStorage()),
		Version: p.GetVersion(), MailboxMax: count(p.GetMailboxMax()), AwakeMax: count(p.GetAwakeMax()),
		SignalTTL: Duration(p.GetSignalTtlMs()), AttachTTL: Duration(p.GetAttachTtlMs()), Track: p.GetTrack(), Untracked: p.GetUntracked(),
		SkipsPersist: p.GetSkipsPersist(), Metadata: p.GetMetadata(), Schedules: p.GetSchedules(),
	}
}

// count returns n as an int, at most math.MaxInt32.
func count(n uint64) int { return int(min(n, math.MaxInt32)) }

// DecodeManagerRow decodes the row of a manager; name is used in the error.
func DecodeManagerRow(name string, raw []byte) (*logpb.ManagerRow, error) {
	return Decode[logpb.ManagerRow](raw, "manager", name)
}

// ManagerOf returns a manager as callers see it.
func ManagerOf(name string, row *logpb.ManagerRow) *agent.Manager {
	m := decodeManager(row.GetSettings())
	m.Name, m.Incarnation, m.Revision = name, row.GetIncarnation(), row.GetRevision()
	m.CreatedAt, m.UpdatedAt = row.GetCreatedAt(), row.GetUpdatedAt()
	return &m
}
