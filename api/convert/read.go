package convert

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

// ReadsToProto converts a request to read.
func ReadsToProto(r *agent.Reads) *apipb.ReadRequest {
	out := &apipb.ReadRequest{Scope: r.Scope, Stale: r.Stale, MinIndex: r.MinIndex}
	slab := make([]apipb.Read, len(r.Reads))
	out.Reads = make([]*apipb.Read, len(r.Reads))
	for i, read := range r.Reads {
		readToProto(&slab[i], read)
		out.Reads[i] = &slab[i]
	}
	return out
}

func readToProto(out *apipb.Read, read agent.Read) {
	switch r := read.(type) {
	case *agent.GetValue:
		out.Read = &apipb.Read_GetValue{GetValue: &apipb.GetValue{Key: r.Key}}
	case *agent.ListValues:
		out.Read = &apipb.Read_ListValues{ListValues: rowsToProto(r.Page, r.Body, r.Where)}
	case *agent.GetCheckpoint:
		out.Read = &apipb.Read_GetCheckpoint{GetCheckpoint: &apipb.GetCheckpoint{Key: r.Key, Revision: r.Revision}}
	case *agent.ListCheckpoints:
		out.Read = &apipb.Read_ListCheckpoints{ListCheckpoints: rowsToProto(r.Page, r.Body, r.Where)}
	case *agent.CheckpointHistory:
		out.Read = &apipb.Read_CheckpointHistory{CheckpointHistory: &apipb.CheckpointHistory{Key: r.Key}}
	case *agent.GetThread:
		out.Read = &apipb.Read_GetThread{GetThread: &apipb.GetThread{Thread: r.Thread}}
	case *agent.ListThreads:
		out.Read = &apipb.Read_ListThreads{ListThreads: pageToProto(r.Page)}
	case *agent.LoadEntries:
		out.Read = &apipb.Read_LoadEntries{LoadEntries: &apipb.LoadEntries{
			Thread: r.Thread, From: r.From, To: r.To, Tail: r.Tail, AtRev: r.AtRev, Kinds: r.Kinds, Limit: r.Limit,
			Order: string(r.Order), Since: r.Since, Until: r.Until,
		}}
	case *agent.GetEntry:
		out.Read = &apipb.Read_GetEntry{GetEntry: &apipb.GetEntry{Thread: r.Thread, Entry: r.Entry}}
	case *agent.VerifyThread:
		out.Read = &apipb.Read_VerifyThread{VerifyThread: &apipb.VerifyThread{Thread: r.Thread}}
	case *agent.Thaw:
		out.Read = &apipb.Read_Thaw{Thaw: &apipb.Thaw{Key: r.Key, Tail: r.Tail, Revision: r.Revision}}
	case *agent.ListScopes:
		out.Read = &apipb.Read_ListScopes{ListScopes: pageToProto(r.Page)}
	case *agent.GetScope:
		out.Read = &apipb.Read_GetScope{GetScope: &apipb.GetScope{Default: r.Default}}
	case *agent.GetClaim:
		out.Read = &apipb.Read_GetClaim{GetClaim: &apipb.GetClaim{Claim: r.Claim}}
	case *agent.ListClaims:
		out.Read = &apipb.Read_ListClaims{ListClaims: pageToProto(r.Page)}
	case *agent.GetMemory:
		out.Read = &apipb.Read_GetMemory{GetMemory: &apipb.GetMemory{Agent: r.Agent, Id: r.ID}}
	case *agent.ListMemories:
		out.Read = &apipb.Read_ListMemories{ListMemories: listMemoriesToProto(r)}
	case *agent.GetManager:
		out.Read = &apipb.Read_GetManager{GetManager: &apipb.GetManager{Name: r.Name}}
	case *agent.ListManagers:
		out.Read = &apipb.Read_ListManagers{ListManagers: pageToProto(r.Page)}
	case *agent.GetAnswer:
		out.Read = &apipb.Read_GetAnswer{GetAnswer: &apipb.GetAnswer{Client: r.Client, Seq: r.Seq}}
	case *agent.GetToken:
		out.Read = &apipb.Read_GetToken{GetToken: &apipb.GetToken{Id: r.ID}}
	case *agent.ListTokens:
		out.Read = &apipb.Read_ListTokens{ListTokens: pageToProto(r.Page)}
	case *agent.GetDeletion:
		out.Read = &apipb.Read_GetDeletion{GetDeletion: &apipb.GetDeletion{Id: r.ID}}
	case *agent.ListDeletions:
		out.Read = &apipb.Read_ListDeletions{ListDeletions: pageToProto(r.Page)}
	case *agent.Recall:
		out.Read = &apipb.Read_Recall{Recall: recallToProto(r)}
	case *agent.GetTimer:
		out.Read = &apipb.Read_GetTimer{GetTimer: &apipb.GetTimer{Manager: r.Manager, Key: r.Key, Id: r.ID}}
	case *agent.ListTimers:
		out.Read = &apipb.Read_ListTimers{ListTimers: listTimersToProto(r)}
	default:
		sessionReadToProto(out, read)
	}
}

func pageToProto(p agent.Page) *apipb.ListPage {
	return &apipb.ListPage{Prefix: p.Prefix, After: p.After, Limit: p.Limit, Order: string(p.Order), Since: p.Since, Until: p.Until}
}

func rowsToProto(p agent.Page, body bool, where agent.Where) *apipb.ListPage {
	out := pageToProto(p)
	out.Body = body
	for _, m := range where {
		out.Where = append(out.Where, &apipb.MetadataEquals{Key: m.Key, Value: m.Value})
	}
	return out
}

func whereFromProto[M interface {
	GetKey() string
	GetValue() string
}](all []M) (w agent.Where) {
	for _, m := range all {
		w = append(w, agent.MetadataEquals{Key: m.GetKey(), Value: m.GetValue()})
	}
	return w
}

// ReadsFromProto converts a request to read. It refuses reads without a kind.
func ReadsFromProto(r *apipb.ReadRequest) (agent.Reads, error) {
	if r == nil {
		return agent.Reads{}, agent.Invalid("read", "there is no read")
	}
	if n := len(r.Reads); n > agent.ReadsMax {
		return agent.Reads{}, agent.TooLarge("reads", "reads_max", n, agent.ReadsMax)
	}
	out := agent.Reads{Scope: r.Scope, Stale: r.Stale, MinIndex: r.MinIndex, Reads: make([]agent.Read, len(r.Reads))}
	for i, read := range r.Reads {
		converted := readFromProto(read)
		if converted == nil {
			return agent.Reads{}, atOp(agent.Invalid("read", "the read is missing or of a kind that this node does not know"), i)
		}
		out.Reads[i] = converted
	}
	return out, nil
}

// readFromProto returns nil if there is no read. Missing bodies read as empty ones,
// which Validate refuses.
func readFromProto(read *apipb.Read) agent.Read {
	switch r := read.GetRead().(type) {
	case *apipb.Read_GetValue:
		return &agent.GetValue{Key: r.GetValue.GetKey()}
	case *apipb.Read_ListValues:
		return &agent.ListValues{Page: pageFromProto(r.ListValues), Body: r.ListValues.GetBody(), Where: whereFromProto(r.ListValues.GetWhere())}
	case *apipb.Read_GetCheckpoint:
		return &agent.GetCheckpoint{Key: r.GetCheckpoint.GetKey(), Revision: r.GetCheckpoint.GetRevision()}
	case *apipb.Read_ListCheckpoints:
		return &agent.ListCheckpoints{
			Page: pageFromProto(r.ListCheckpoints), Body: r.ListCheckpoints.GetBody(), Where: whereFromProto(r.ListCheckpoints.GetWhere()),
		}
	case *apipb.Read_CheckpointHistory:
		return &agent.CheckpointHistory{Key: r.CheckpointHistory.GetKey()}
	case *apipb.Read_GetThread:
		return &agent.GetThread{Thread: r.GetThread.GetThread()}
	case *apipb.Read_ListThreads:
		return &agent.ListThreads{Page: pageFromProto(r.ListThreads)}
	case *apipb.Read_LoadEntries:
		return loadFromProto(r.LoadEntries)
	case *apipb.Read_GetEntry:
		return &agent.GetEntry{Thread: r.GetEntry.GetThread(), Entry: r.GetEntry.GetEntry()}
	case *apipb.Read_VerifyThread:
		return &agent.VerifyThread{Thread: r.VerifyThread.GetThread()}
	case *apipb.Read_Thaw:
		t := &agent.Thaw{Key: r.Thaw.GetKey(), Revision: r.Thaw.GetRevision()}
		if r.Thaw != nil {
			t.Tail = r.Thaw.Tail
		}
		return t
	case *apipb.Read_ListScopes:
		return &agent.ListScopes{Page: pageFromProto(r.ListScopes)}
	case *apipb.Read_GetScope:
		return &agent.GetScope{Default: r.GetScope.GetDefault()}
	case *apipb.Read_GetClaim:
		return &agent.GetClaim{Claim: r.GetClaim.GetClaim()}
	case *apipb.Read_ListClaims:
		return &agent.ListClaims{Page: pageFromProto(r.ListClaims)}
	case *apipb.Read_GetMemory:
		return &agent.GetMemory{Agent: r.GetMemory.GetAgent(), ID: r.GetMemory.GetId()}
	case *apipb.Read_ListMemories:
		return listMemoriesFromProto(r.ListMemories)
	case *apipb.Read_GetToken:
		return &agent.GetToken{ID: r.GetToken.GetId()}
	case *apipb.Read_ListTokens:
		return &agent.ListTokens{Page: pageFromProto(r.ListTokens)}
	case *apipb.Read_GetDeletion:
		return &agent.GetDeletion{ID: r.GetDeletion.GetId()}
	case *apipb.Read_ListDeletions:
		return &agent.ListDeletions{Page: pageFromProto(r.ListDeletions)}
	case *apipb.Read_Recall:
		return recallFromProto(r.Recall)
	case *apipb.Read_GetTimer:
		return &agent.GetTimer{Manager: r.GetTimer.GetManager(), Key: r.GetTimer.GetKey(), ID: r.GetTimer.GetId()}
	case *apipb.Read_ListTimers:
		return listTimersFromProto(r.ListTimers)
	default:
		return managerReadFromProto(read)
	}
}

func loadFromProto(l *apipb.LoadEntries) agent.Read {
	if l == nil {
		return &agent.LoadEntries{}
	}
	return &agent.LoadEntries{
		Thread: l.Thread, From: l.From, To: l.To, Tail: l.Tail, AtRev: l.AtRev, Kinds: l.Kinds, Limit: l.Limit,
		Order: agent.Order(l.Order), Times: agent.Times{Since: l.Since, Until: l.Until},
	}
}

// listed is a read of a page, which may be nil.
type listed interface {
	GetPrefix() string
	GetAfter() string
	GetLimit() uint64
	GetOrder() string
	GetSince() int64
	GetUntil() int64
}

func pageFromProto(p listed) agent.Page {
	return agent.Page{
		Prefix: p.GetPrefix(), After: p.GetAfter(), Limit: p.GetLimit(), Order: agent.Order(p.GetOrder()),
		Times: agent.Times{Since: p.GetSince(), Until: p.GetUntil()},
	}
}
