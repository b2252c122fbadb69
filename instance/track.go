package instance

import (
	"errors"

	"dormouse/agent"
)

// tracked reports whether the host adds instruction_start and instruction_end
// entries to the thread for each signal. Without a setting in the manager, it
// does for Go and HTTP handlers once the instance has a thread, like Jido's
// Direct strategy.
func (i *instance) tracked(manager agent.Manager) bool {
	switch {
	case manager.Track, manager.Untracked:
		return manager.Track
	case manager.Handler.Kind == agent.HandlerDocument:
		return false
	default:
		return i.stored.threadIncarnation != 0 || i.body.extra != nil && len(i.body.extra.pending) > 0
	}
}

// startEntry returns the entry before those of a signal's turn.
func startEntry(s agent.Signal) agent.Draft {
	payload := append(appendString([]byte(`{"type":`), s.Type), '}')
	return agent.Draft{Kind: agent.KindInstructionStart, Payload: payload, Refs: signalRefs(s)}
}

// endEntry returns the entry after those of a signal's turn. Its status is ok,
// or error with the code and the reason, if any.
func endEntry(s agent.Signal, err *agent.Error) agent.Draft {
	payload := appendString([]byte(`{"type":`), s.Type)
	if err == nil {
		payload = append(payload, `,"status":"ok"}`...)
	} else {
		payload = appendString(append(payload, `,"status":"error","code":`...), string(err.Code))
		if err.Reason != "" {
			payload = appendString(append(payload, `,"reason":`...), err.Reason)
		}
		payload = append(payload, '}')
	}
	return agent.Draft{Kind: agent.KindInstructionEnd, Payload: payload, Refs: signalRefs(s)}
}

func signalRefs(s agent.Signal) agent.JSON {
	if s.Request.Client == "" {
		return nil
	}
	return append(appendString([]byte(`{"`+agent.RefSignalID+`":`), signalID(s.Request)), '}')
}

// trackFailed appends the two entries of a failed signal. It uses a request of
// the host's own, because the client may send the signal again under its
// request id. It appends nothing if the failure is not the handler's, such as a
// lost lease.
func (rn *runner) trackFailed(i *instance, manager agent.Manager, s agent.Signal, failure error) {
	var e *agent.Error
	if !errors.As(failure, &e) || agent.OutcomeOf(e) != agent.Refused || isErased(e) ||
		isCode(e, agent.CodeUnavailable, agent.CodeNotOwner, agent.CodeOverloaded) || !i.tracked(manager) {
		return
	}
	service := rn.table.serviceFor(i.manager, manager)
	if service == nil {
		return
	}
	entries := []agent.Draft{startEntry(s), endEntry(s, e)}
	if i.body.awake && manager.Durability == agent.DurabilityIdle {
		s.Request = agent.Request{} // the failure is not recorded as the signal's answer
		t := newTurn(rn, i, s, manager.Handler.Kind)
		t.entries = entries
		if _, err := rn.keepInMemory(i, service, t); err != nil {
			rn.o.Logger.Debug("a failed signal was not tracked", "instance", i.String(), "error", err)
		}
		return
	}
	ops := []agent.Op{i.appendOp(entries)}
	if i.stored.revision == 0 { // a thread needs a checkpoint that points to it
		if !i.body.awake {
			return
		}
		var err error
		if ops, err = rn.store.saveOps(i, entries, i.body.state, lifecycleTurn); err != nil {
			return
		}
	}
	result, err := rn.store.commitFenced(i, service, agent.Commit{Ops: ops, Request: rn.store.newRequestID(i)})
	if err != nil {
		rn.store.reloadAfter(i, err)
		rn.o.Logger.Debug("a failed signal was not tracked", "instance", i.String(), "error", err)
		return
	}
	rn.store.recordResult(i, result)
}
