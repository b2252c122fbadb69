package command

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

func encodeImportScope(o *agent.ImportScope) *logpb.ImportScope {
	p := &logpb.ImportScope{Import: o.ID, Minted: o.Minted, Chunk: o.Chunk, Rows: o.Rows, Finish: o.Finish}
	if o.Scope != nil {
		p.Record = EncodeScope(*o.Scope)
	}
	return p
}

func decodeImportScope(p *logpb.ImportScope) *agent.ImportScope {
	o := &agent.ImportScope{ID: p.GetImport(), Minted: p.GetMinted(), Chunk: p.GetChunk(), Rows: p.GetRows(), Finish: p.GetFinish()}
	if p.GetRecord() != nil {
		scope := DecodeScope(p.Record)
		o.Scope = &scope
	}
	return o
}
