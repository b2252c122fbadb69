package convert

import (
	"fmt"

	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

// WatchToProto converts a request to watch.
func WatchToProto(w agent.Watch) *apipb.WatchRequest {
	return &apipb.WatchRequest{
		Scope: w.Scope, Thread: w.Thread, From: w.From, Incarnation: w.Incarnation, Claim: w.Claim,
		Changes: w.Changes, Skip: w.Skip, Prefix: w.Prefix, Body: w.Body,
	}
}

// WatchFromProto converts a request to watch.
func WatchFromProto(w *apipb.WatchRequest) agent.Watch {
	return agent.Watch{
		Scope: w.GetScope(), Thread: w.GetThread(), From: w.GetFrom(), Incarnation: w.GetIncarnation(), Claim: w.GetClaim(),
		Changes: w.GetChanges(), Skip: w.GetSkip(), Prefix: w.GetPrefix(), Body: w.GetBody(),
	}
}

// EventToProto converts one element of a watch.
func EventToProto(e *agent.Event) *apipb.WatchEvent {
	switch e.Kind {
	case agent.EventEntry:
		m := &apipb.Entry{}
		entryToProto(m, &e.Entry)
		return &apipb.WatchEvent{Event: &apipb.WatchEvent_Entry{Entry: m}}
	case agent.EventCompacted:
		return &apipb.WatchEvent{Event: &apipb.WatchEvent_CompactedFloor{CompactedFloor: e.Floor}}
	case agent.EventDeleted:
		return &apipb.WatchEvent{Event: &apipb.WatchEvent_Deleted{Deleted: true}}
	case agent.EventClaim:
		return &apipb.WatchEvent{Event: &apipb.WatchEvent_Claim{Claim: ops.ClaimToProto(&e.Claim)}}
	case agent.EventChanges:
		return &apipb.WatchEvent{Event: &apipb.WatchEvent_Changes{Changes: changesToProto(e)}, Bodies: bodiesToProto(e.Changes)}
	default:
		panic(fmt.Sprintf("convert: event kind %d has no protobuf message", e.Kind))
	}
}

// EventFromProto converts one element of a watch.
func EventFromProto(e *apipb.WatchEvent) (agent.Event, error) {
	switch ev := e.GetEvent().(type) {
	case *apipb.WatchEvent_Entry:
		if ev.Entry != nil {
			return agent.Event{Kind: agent.EventEntry, Entry: entryFromProto(ev.Entry)}, nil
		}
	case *apipb.WatchEvent_CompactedFloor:
		return agent.Event{Kind: agent.EventCompacted, Floor: ev.CompactedFloor}, nil
	case *apipb.WatchEvent_Deleted:
		return agent.Event{Kind: agent.EventDeleted}, nil
	case *apipb.WatchEvent_Claim:
		claim, err := ops.ClaimFromProto(ev.Claim)
		if err != nil {
			return agent.Event{}, err
		}
		return agent.Event{Kind: agent.EventClaim, Claim: *claim}, nil
	case *apipb.WatchEvent_Changes:
		changes := changesFromProto(ev.Changes)
		err := bodiesFromProto(changes, e.GetBodies())
		return agent.Event{Kind: agent.EventChanges, Changes: changes, Through: ev.Changes.GetThrough()}, err
	}
	return agent.Event{}, agent.Errorf(agent.CodeInternal, "the event is missing or of an unknown kind")
}
