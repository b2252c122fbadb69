package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var threadCodecs = []opCodec{
	codec(encodeAppendThread, (*oppb.Op).GetAppendThread, decodeAppendThread),
	codec(encodeHibernateThread, (*oppb.Op).GetHibernateThread, decodeHibernateThread),
	codec(encodeDeleteThread, (*oppb.Op).GetDeleteThread, decodeDeleteThread),
	codec(encodeCompactThread, (*oppb.Op).GetCompactThread, decodeCompactThread),
	codec(encodeForkThread, (*oppb.Op).GetForkThread, decodeForkThread),
}

func encodeAppendThread(out *oppb.Op, o *agent.AppendThread) {
	out.Op = &oppb.Op_AppendThread{AppendThread: &oppb.AppendThread{
		Thread: o.Thread, Entries: draftsToProto(o.Entries), ExpectedRev: o.ExpectedRev,
		ExpectedHead: o.ExpectedHead, Metadata: o.Metadata, IfIncarnation: o.IfIncarnation,
		SkipExisting: o.SkipExisting, CreateOnly: o.CreateOnly,
	}}
}

func decodeAppendThread(a *oppb.AppendThread) (agent.Op, error) {
	drafts, err := draftsFromProto(a.Entries)
	if err != nil {
		return nil, err
	}
	return &agent.AppendThread{
		Thread: a.Thread, Entries: drafts, ExpectedRev: a.ExpectedRev, ExpectedHead: a.ExpectedHead,
		Metadata: JSON(a.Metadata), IfIncarnation: a.IfIncarnation, SkipExisting: a.SkipExisting, CreateOnly: a.CreateOnly,
	}, nil
}

func encodeHibernateThread(out *oppb.Op, o *agent.HibernateThread) {
	out.Op = &oppb.Op_HibernateThread{HibernateThread: &oppb.HibernateThread{
		Thread: o.Thread, Rev: o.Rev, FromSeq: o.FromSeq, Entries: draftsToProto(o.Entries),
		Metadata: o.Metadata, IfIncarnation: o.IfIncarnation,
	}}
}

func decodeHibernateThread(h *oppb.HibernateThread) (agent.Op, error) {
	drafts, err := draftsFromProto(h.Entries)
	if err != nil {
		return nil, err
	}
	return &agent.HibernateThread{
		Thread: h.Thread, Rev: h.Rev, FromSeq: h.FromSeq, Entries: drafts,
		Metadata: JSON(h.Metadata), IfIncarnation: h.IfIncarnation,
	}, nil
}

func encodeDeleteThread(out *oppb.Op, o *agent.DeleteThread) {
	out.Op = &oppb.Op_DeleteThread{DeleteThread: &oppb.DeleteThread{
		Thread: o.Thread, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
	}}
}

func decodeDeleteThread(d *oppb.DeleteThread) (agent.Op, error) {
	seal, err := Duration("seal_ms", d.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteThread{Thread: d.Thread, IfIncarnation: d.IfIncarnation, Seal: seal}, nil
}

func encodeCompactThread(out *oppb.Op, o *agent.CompactThread) {
	out.Op = &oppb.Op_CompactThread{CompactThread: &oppb.CompactThread{
		Thread: o.Thread, BeforeSeq: o.BeforeSeq, Summary: o.Summary, IfIncarnation: o.IfIncarnation,
	}}
}

func decodeCompactThread(p *oppb.CompactThread) (agent.Op, error) {
	return &agent.CompactThread{
		Thread: p.Thread, BeforeSeq: p.BeforeSeq, Summary: JSON(p.Summary), IfIncarnation: p.IfIncarnation,
	}, nil
}

func encodeForkThread(out *oppb.Op, o *agent.ForkThread) {
	out.Op = &oppb.Op_ForkThread{ForkThread: &oppb.ForkThread{
		Thread: o.Thread, NewThread: o.NewThread, AtRev: o.AtRev, IfIncarnation: o.IfIncarnation,
	}}
}

func decodeForkThread(p *oppb.ForkThread) (agent.Op, error) {
	return &agent.ForkThread{
		Thread: p.Thread, NewThread: p.NewThread, AtRev: p.AtRev, IfIncarnation: p.IfIncarnation,
	}, nil
}

func draftsToProto(drafts []agent.Draft) []*oppb.Draft {
	if len(drafts) == 0 {
		return nil
	}
	slab := make([]oppb.Draft, len(drafts))
	out := make([]*oppb.Draft, len(drafts))
	for i := range drafts {
		d, m := &drafts[i], &slab[i]
		m.Id, m.At, m.Kind, m.Payload, m.Refs, m.ContentType, m.Bytes = d.ID, d.At, d.Kind, d.Payload, d.Refs, d.ContentType, d.Bytes
		out[i] = m
	}
	return out
}

func draftsFromProto(drafts []*oppb.Draft) ([]agent.Draft, error) {
	if n := len(drafts); n > agent.CommitEntriesMax {
		return nil, agent.TooLarge("entries", "commit_entries_max", n, agent.CommitEntriesMax)
	}
	if len(drafts) == 0 {
		return nil, nil
	}
	out := make([]agent.Draft, len(drafts))
	for i, d := range drafts {
		if d == nil {
			return nil, agent.Invalid("entries", "entry %d is missing", i)
		}
		out[i] = agent.Draft{ID: d.Id, At: d.At, Kind: d.Kind, Payload: JSON(d.Payload), Refs: JSON(d.Refs), ContentType: d.ContentType, Bytes: d.Bytes}
	}
	return out, nil
}
