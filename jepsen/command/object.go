package command

import (
	"encoding/json"
	"strconv"

	"dormouse/agent"
)

// objectArgs returns the command for an op on a checkpoint, a memory or a review. The input of a put of a
// checkpoint is its state.
func objectArgs(op agent.Op) arguments {
	switch op := op.(type) {
	case *agent.PutCheckpoint:
		if op.Thread != nil && op.Thread.Incarnation != 0 {
			return nil
		}
		a := arguments{"checkpoints", "put", op.Key, "-"}
		a.count("version", op.Version)
		if p := op.Thread; p != nil {
			a.text("thread", p.Thread)
			a.number("rev", &p.Rev)
			a.text("head", p.Head)
		}
		a.text("lifecycle", op.Lifecycle)
		a.text("metadata", string(op.Metadata))
		a.span("ttl", op.TTL)
		a.conditions(op.IfRevision, op.IfIncarnation)
		a.truth("skip-existing", op.SkipExisting)
		return a
	case *agent.DeleteCheckpoint:
		return removal(arguments{"checkpoints", "rm", op.Key}, op.IfRevision, op.IfIncarnation, op.Seal)
	case *agent.WriteMemory:
		return memoryArgs(op)
	case *agent.DeleteMemory:
		return removal(arguments{"memory", "rm", op.Agent, op.ID}, op.IfRevision, op.IfIncarnation, op.Seal)
	case *agent.DecideReview:
		return reviewArgs(op)
	default:
		return nil
	}
}

// memoryArgs returns the command that writes a memory; nil for times in ms, which it does not take.
func memoryArgs(op *agent.WriteMemory) arguments {
	if op.ObservedAt != nil || op.ExpiresAt != 0 || op.Content == "" {
		return nil
	}
	a := arguments{"memory", "put", op.Agent, op.Content}
	a.text("id", op.ID)
	a.text("session", op.Session)
	a.text("class", op.Class)
	a.text("kind", op.Kind)
	a.text("data", string(op.Data))
	for _, tag := range op.Tags {
		a.text("tag", tag)
	}
	a.text("source", op.Source)
	a.text("metadata", string(op.Metadata))
	if len(op.Embedding) > 0 {
		numbers, err := json.Marshal(op.Embedding)
		if err != nil {
			return nil // infinite, which no JSON holds
		}
		a.text("embedding", string(numbers))
	}
	a.span("ttl", op.TTL)
	a.conditions(op.IfRevision, op.IfIncarnation)
	return a
}

// reviewArgs returns the command that decides a review.
func reviewArgs(op *agent.DecideReview) arguments {
	var a arguments
	switch op.Decision {
	case agent.DecideApprove:
		a = arguments{"reviews", "approve", op.Review}
	case agent.DecideDeny:
		a = arguments{"reviews", "deny", op.Review}
	case agent.DecideEdit:
		a = arguments{"reviews", "edit", op.Review, string(op.Arguments)}
	default:
		return nil
	}
	a.text("by", op.By)
	a.text("note", op.Note)
	a.text("interrupt", op.InterruptID)
	return a
}

// readArgs returns the command of a read, and the name of the read; nil if dormctl has none.
func readArgs(read agent.Read) (args []string, name string) {
	switch read := read.(type) {
	case *agent.GetValue:
		return []string{"values", "get", read.Key}, "get_value"
	case *agent.GetCheckpoint:
		args := []string{"checkpoints", "get", read.Key}
		if read.Revision != 0 {
			args = append(args, "--revision", strconv.FormatUint(read.Revision, 10))
		}
		return args, "get_checkpoint"
	case *agent.GetClaim:
		return []string{"claims", "get", read.Claim}, "get_claim"
	case *agent.GetThread:
		return []string{"threads", "get", read.Thread}, "get_thread"
	case *agent.GetSession:
		return []string{"sessions", "get", read.Session}, "get_session"
	case *agent.GetMemory:
		return []string{"memory", "get", read.Agent, read.ID}, "get_memory"
	case *agent.GetReview:
		return []string{"reviews", "get", read.Review}, "get_review"
	default:
		return nil, ""
	}
}
