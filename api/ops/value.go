package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var valueCodecs = []opCodec{
	codec(encodePutValue, (*oppb.Op).GetPutValue, decodePutValue),
	codec(encodeDeleteValue, (*oppb.Op).GetDeleteValue, decodeDeleteValue),
	codec(encodeReviseValue, (*oppb.Op).GetReviseValue, decodeReviseValue),
}

func encodePutValue(out *oppb.Op, o *agent.PutValue) {
	out.Op = &oppb.Op_PutValue{PutValue: &oppb.PutValue{
		Key: o.Key, ContentType: o.ContentType, Bytes: o.Bytes, TtlMs: Millis(o.TTL),
		IfRevision: o.IfRevision, IfBytes: expectToProto(o.IfBytes), IfIncarnation: o.IfIncarnation,
		Metadata: o.Metadata, SkipExisting: o.SkipExisting,
	}}
}

func decodePutValue(p *oppb.PutValue) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	if err != nil {
		return nil, err
	}
	return &agent.PutValue{
		Key: p.Key, ContentType: p.ContentType, Bytes: p.Bytes, TTL: ttl,
		IfRevision: p.IfRevision, IfBytes: expectFromProto(p.IfBytes), IfIncarnation: p.IfIncarnation, Metadata: JSON(p.Metadata),
		SkipExisting: p.SkipExisting,
	}, nil
}

func encodeDeleteValue(out *oppb.Op, o *agent.DeleteValue) {
	out.Op = &oppb.Op_DeleteValue{DeleteValue: &oppb.DeleteValue{
		Key: o.Key, IfRevision: o.IfRevision, IfBytes: expectToProto(o.IfBytes),
		IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
	}}
}

func decodeDeleteValue(d *oppb.DeleteValue) (agent.Op, error) {
	seal, err := Duration("seal_ms", d.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteValue{
		Key: d.Key, IfRevision: d.IfRevision, IfBytes: expectFromProto(d.IfBytes),
		IfIncarnation: d.IfIncarnation, Seal: seal,
	}, nil
}

func encodeReviseValue(out *oppb.Op, o *agent.ReviseValue) {
	out.Op = &oppb.Op_ReviseValue{ReviseValue: &oppb.ReviseValue{
		Key: o.Key, To: o.To, ContentType: o.ContentType, Metadata: o.Metadata,
		IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}}
}

func decodeReviseValue(p *oppb.ReviseValue) (agent.Op, error) {
	return &agent.ReviseValue{
		Key: p.Key, To: p.To, ContentType: p.ContentType, Metadata: JSON(p.Metadata),
		IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}, nil
}

func expectToProto(b *[]byte) *oppb.ExpectBytes {
	switch {
	case b == nil:
		return nil
	case *b == nil:
		return &oppb.ExpectBytes{Absent: true}
	default:
		return &oppb.ExpectBytes{Bytes: *b}
	}
}

func expectFromProto(e *oppb.ExpectBytes) *[]byte {
	if e == nil {
		return nil
	}
	var b []byte
	if !e.Absent {
		// An empty value is not absent, and protobuf drops empty bytes.
		if b = e.Bytes; b == nil {
			b = []byte{}
		}
	}
	return &b
}
