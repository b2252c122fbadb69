package wire

import (
	"math"

	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func putManagerToProto(o *agent.PutManager) *apipb.PutManager {
	return &apipb.PutManager{Manager: managerToProto(&o.Manager), IfRevision: o.IfRevision}
}

func managerOpFromProto(op *apipb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *apipb.Op_PutManager:
		if o.PutManager == nil {
			return nil, noKind()
		}
		m, err := managerFromProto(o.PutManager.Manager)
		if err != nil {
			return nil, err
		}
		return &agent.PutManager{Manager: *m, IfRevision: o.PutManager.IfRevision}, nil
	case *apipb.Op_DeleteManager:
		if o.DeleteManager == nil {
			return nil, noKind()
		}
		return &agent.DeleteManager{Name: o.DeleteManager.Name, IfRevision: o.DeleteManager.IfRevision}, nil
	case *apipb.Op_AnswerSignal:
		if o.AnswerSignal == nil {
			return nil, noKind()
		}
		return &agent.AnswerSignal{Hash: o.AnswerSignal.Hash, Reply: json(o.AnswerSignal.Reply)}, nil
	default:
		return sessionOpFromProto(op)
	}
}

func managerToProto(m *agent.Manager) *apipb.Manager {
	return &apipb.Manager{
		Name:          m.Name,
		Handler:       &apipb.Handler{Kind: string(m.Handler.Kind), Name: m.Handler.Name, Url: m.Handler.URL, Key: m.Handler.Key},
		IdleTimeoutMs: millis(m.IdleTimeout), Durability: string(m.Durability), Storage: string(m.Storage), Version: m.Version,
		// A negative number turns into one that the door refuses.
		MailboxMax: uint64(m.MailboxMax), AwakeMax: uint64(m.AwakeMax),
		SignalTtlMs: millis(m.SignalTTL), AttachTtlMs: millis(m.AttachTTL), Track: m.Track, Untracked: m.Untracked, SkipsPersist: m.SkipsPersist, Metadata: m.Metadata,
		Schedules:   m.Schedules,
		Incarnation: m.Incarnation, Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
}

func managerFromProto(p *apipb.Manager) (*agent.Manager, error) {
	idle, err := duration("idle_timeout_ms", p.GetIdleTimeoutMs())
	if err != nil {
		return nil, err
	}
	signal, err := duration("signal_ttl_ms", p.GetSignalTtlMs())
	if err != nil {
		return nil, err
	}
	attach, err := duration("attach_ttl_ms", p.GetAttachTtlMs())
	if err != nil {
		return nil, err
	}
	h := p.GetHandler()
	return &agent.Manager{
		Name:        p.GetName(),
		Handler:     agent.Handler{Kind: agent.HandlerKind(h.GetKind()), Name: h.GetName(), URL: h.GetUrl(), Key: h.GetKey()},
		IdleTimeout: idle, Durability: agent.Durability(p.GetDurability()), Storage: agent.Keeping(p.GetStorage()), Version: p.GetVersion(),
		MailboxMax: number(p.GetMailboxMax()), AwakeMax: number(p.GetAwakeMax()), SignalTTL: signal, AttachTTL: attach,
		Track: p.GetTrack(), Untracked: p.GetUntracked(), SkipsPersist: p.GetSkipsPersist(), Metadata: json(p.GetMetadata()), Schedules: json(p.GetSchedules()),
		Incarnation: p.GetIncarnation(), Revision: p.GetRevision(), CreatedAt: p.GetCreatedAt(), UpdatedAt: p.GetUpdatedAt(),
	}, nil
}

// number is a count that fits every machine; one that does not is past every
// limit all the same.
func number(n uint64) int { return int(min(n, math.MaxInt32)) }

func managerResultFromProto(p *apipb.Manager) (agent.OpResult, error) {
	m, err := managerFromProto(p)
	if err != nil {
		return nil, err
	}
	return &agent.ManagerResult{Manager: *m}, nil
}

func managersToProto(l *agent.ManagerList) *apipb.ManagerList {
	out := &apipb.ManagerList{Next: l.Next, Items: make([]*apipb.Manager, len(l.Items))}
	for i := range l.Items {
		out.Items[i] = managerToProto(&l.Items[i])
	}
	return out
}

func managersFromProto(p *apipb.ManagerList) (*agent.ManagerList, error) {
	l := &agent.ManagerList{Next: p.GetNext()}
	for _, item := range p.GetItems() {
		m, err := managerFromProto(item)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, *m)
	}
	return l, nil
}

func answeredToProto(d *agent.Decided) *apipb.Answered {
	if d.Err != nil {
		return &apipb.Answered{Error: ErrorToProto(d.Err)}
	}
	return &apipb.Answered{Result: ResultToProto(&d.Result)}
}

func answeredFromProto(p *apipb.Answered) (*agent.Decided, error) {
	if e := p.GetError(); e != nil {
		return &agent.Decided{Err: ErrorFromProto(e)}, nil
	}
	result, err := ResultFromProto(p.GetResult())
	return &agent.Decided{Result: result}, err
}

// managerAnswerFromProto converts what was found of managers and requests.
func managerAnswerFromProto(a *apipb.Answer) (agent.Found, error) {
	switch f := a.GetAnswer().(type) {
	case *apipb.Answer_Manager:
		return managerFromProto(f.Manager)
	case *apipb.Answer_Managers:
		return managersFromProto(f.Managers)
	case *apipb.Answer_Answered:
		return answeredFromProto(f.Answered)
	default:
		return sessionAnswerFromProto(a)
	}
}

// managerReadFromProto gives nil where there is no read.
func managerReadFromProto(read *apipb.Read) agent.Read {
	switch r := read.GetRead().(type) {
	case *apipb.Read_GetManager:
		return &agent.GetManager{Name: r.GetManager.GetName()}
	case *apipb.Read_ListManagers:
		return &agent.ListManagers{Page: pageFromProto(r.ListManagers)}
	case *apipb.Read_GetAnswer:
		return &agent.GetAnswer{Client: r.GetAnswer.GetClient(), Seq: r.GetAnswer.GetSeq()}
	default:
		return sessionReadFromProto(read)
	}
}
