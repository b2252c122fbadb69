package web

import "dormouse/agent"

// pretended returns what a commit might have answered, for seededbug.HTTP200ForUnknown.
// Programs without the build tag seeded do not contain it.
func pretended(ops []agent.Op) agent.Result {
	r := agent.Result{Index: 1, Time: 1}
	for _, op := range ops {
		switch op := op.(type) {
		case *agent.PutValue:
			r.Results = append(r.Results, &agent.ValueResult{Key: op.Key, Revision: 1})
		case *agent.PutCheckpoint:
			r.Results = append(r.Results, &agent.CheckpointResult{Key: op.Key, Revision: 1})
		case *agent.AppendThread:
			result := &agent.ThreadResult{Thread: agent.Thread{ID: op.Thread, Rev: uint64(len(op.Entries))}}
			for i, e := range op.Entries {
				result.Entries = append(result.Entries, agent.EntryStamp{ID: e.ID, Seq: uint64(i)})
			}
			r.Results = append(r.Results, result)
		default:
			r.Results = append(r.Results, &agent.DeleteResult{})
		}
	}
	return r
}
