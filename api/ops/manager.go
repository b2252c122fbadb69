package ops

import (
	"math"

	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var managerCodecs = []opCodec{
	codec(encodePutManager, (*oppb.Op).GetPutManager, decodePutManager),
	codec(encodeDeleteManager, (*oppb.Op).GetDeleteManager, decodeDeleteManager),
	codec(encodeAnswerSignal, (*oppb.Op).GetAnswerSignal, decodeAnswerSignal),
}

func putManagerToProto(o *agent.PutManager) *oppb.PutManager {
	return &oppb.PutManager{Manager: ManagerToProto(&o.Manager), IfRevision: o.IfRevision}
}

// ManagerToProto converts a manager to protobuf.
func ManagerToProto(m *agent.Manager) *oppb.Manager {
	return &oppb.Manager{
		Name:          m.Name,
		Handler:       &oppb.Handler{Kind: string(m.Handler.Kind), Name: m.Handler.Name, Url: m.Handler.URL, Key: m.Handler.Key},
		IdleTimeoutMs: Millis(m.IdleTimeout), Durability: string(m.Durability), Storage: string(m.Storage), Version: m.Version,
		// A negative number becomes one that validation refuses.
		MailboxMax: uint64(m.MailboxMax), AwakeMax: uint64(m.AwakeMax),
		SignalTtlMs: Millis(m.SignalTTL), AttachTtlMs: Millis(m.AttachTTL), Track: m.Track, Untracked: m.Untracked, SkipsPersist: m.SkipsPersist, Metadata: m.Metadata,
		Schedules:   m.Schedules,
		Incarnation: m.Incarnation, Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
}

// ManagerFromProto converts a manager from protobuf. A value that package
// agent cannot represent is an error.
func ManagerFromProto(p *oppb.Manager) (*agent.Manager, error) {
	idle, err := Duration("idle_timeout_ms", p.GetIdleTimeoutMs())
	if err != nil {
		return nil, err
	}
	signal, err := Duration("signal_ttl_ms", p.GetSignalTtlMs())
	if err != nil {
		return nil, err
	}
	attach, err := Duration("attach_ttl_ms", p.GetAttachTtlMs())
	if err != nil {
		return nil, err
	}
	h := p.GetHandler()
	return &agent.Manager{
		Name:        p.GetName(),
		Handler:     agent.Handler{Kind: agent.HandlerKind(h.GetKind()), Name: h.GetName(), URL: h.GetUrl(), Key: h.GetKey()},
		IdleTimeout: idle, Durability: agent.Durability(p.GetDurability()), Storage: agent.Keeping(p.GetStorage()), Version: p.GetVersion(),
		MailboxMax: number(p.GetMailboxMax()), AwakeMax: number(p.GetAwakeMax()), SignalTTL: signal, AttachTTL: attach,
		Track: p.GetTrack(), Untracked: p.GetUntracked(), SkipsPersist: p.GetSkipsPersist(), Metadata: JSON(p.GetMetadata()), Schedules: JSON(p.GetSchedules()),
		Incarnation: p.GetIncarnation(), Revision: p.GetRevision(), CreatedAt: p.GetCreatedAt(), UpdatedAt: p.GetUpdatedAt(),
	}, nil
}

// number converts a count to int. A count that does not fit exceeds every limit.
func number(n uint64) int { return int(min(n, math.MaxInt32)) }

func managerResultFromProto(p *oppb.Manager) (agent.OpResult, error) {
	m, err := ManagerFromProto(p)
	if err != nil {
		return nil, err
	}
	return &agent.ManagerResult{Manager: *m}, nil
}

func encodePutManager(out *oppb.Op, o *agent.PutManager) {
	out.Op = &oppb.Op_PutManager{PutManager: putManagerToProto(o)}
}

func decodePutManager(p *oppb.PutManager) (agent.Op, error) {
	m, err := ManagerFromProto(p.Manager)
	if err != nil {
		return nil, err
	}
	return &agent.PutManager{Manager: *m, IfRevision: p.IfRevision}, nil
}

func encodeDeleteManager(out *oppb.Op, o *agent.DeleteManager) {
	out.Op = &oppb.Op_DeleteManager{DeleteManager: &oppb.DeleteManager{Name: o.Name, IfRevision: o.IfRevision}}
}

func decodeDeleteManager(p *oppb.DeleteManager) (agent.Op, error) {
	return &agent.DeleteManager{Name: p.Name, IfRevision: p.IfRevision}, nil
}

func encodeAnswerSignal(out *oppb.Op, o *agent.AnswerSignal) {
	out.Op = &oppb.Op_AnswerSignal{AnswerSignal: &oppb.AnswerSignal{Hash: o.Hash, Reply: o.Reply}}
}

func decodeAnswerSignal(p *oppb.AnswerSignal) (agent.Op, error) {
	return &agent.AnswerSignal{Hash: p.Hash, Reply: JSON(p.Reply)}, nil
}
