package agenttest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"dormouse/agent"
)

// Fleet is a cluster under test for cases of live instances. It runs in a
// testing/synctest bubble, because the cases wait for timeouts.
type Fleet struct {
	Service   agent.Service   // of the same cluster
	Instances agent.Instances // the implementation under test
	Through   string          // the node that serves Instances
	Faults    Faults          // nil if no node may be lost; cases with Lost are then left out
}

// Faults are the faults that a case can inject into a node of a Fleet.
type Faults interface {
	Retire(node string) // shuts it down
	Crash(node string)  // kills it
	Cut(node string)    // partitions it from all others; it keeps running
	Mend(node string)   // undoes each of these, and returns when the node serves
}

// InstanceCase is one test of an agent.Instances. Its name begins with its ids in
// docs/semantics.md: M, CL or C. Cases of watches have none.
type InstanceCase struct {
	Name string
	Lost bool // it loses a node: it needs Fleet.Faults
	Run  func(t *testing.T, fleet Fleet)
}

// InstanceCases returns all cases. Package instance tests the M rules too, with a
// store that can block and handlers of its own.
func InstanceCases() []InstanceCase {
	var all []InstanceCase
	for _, c := range slices.Concat(lifeClaims, idleClaims, keepingClaims, instanceWatchClaims, ownTimeClaims, ownerClaims, erasedClaims) {
		all = append(all, InstanceCase{Name: c.name, Lost: c.lost, Run: func(t *testing.T, fleet Fleet) {
			t.Helper()
			c.prove(&liveKit{kit: newKit(t, fleet.Service), fleet: fleet, at: fleet.Instances})
		}})
	}
	return all
}

type instanceClaim struct {
	name  string
	lost  bool
	prove func(k *liveKit)
}

// liveKit is a kit whose scope has instances of managers such as m.
type liveKit struct {
	*kit
	fleet Fleet
	at    agent.Instances
}

func (k *liveKit) ref(key string) agent.InstanceRef {
	return agent.InstanceRef{Scope: k.scope, Manager: "m", Key: key}
}

// manage puts manager m with the document handler.
func (k *liveKit) manage(m agent.Manager) {
	k.Helper()
	m.Name, m.Handler = "m", agent.Handler{Kind: agent.HandlerDocument}
	k.commit(&agent.PutManager{Manager: m})
}

func (k *liveKit) start(key, state string) agent.Instance {
	k.Helper()
	i, err := k.at.Start(k.ctx, k.ref(key), agent.StartInstance{InitialState: agent.JSON(state)})
	if err != nil {
		k.Fatalf("start %s: %v", key, err)
	}
	if i.Status != agent.InstanceAwake || i.Node == "" || i.Epoch == 0 {
		k.Fatalf("started: %+v", i)
	}
	return i
}

func (k *liveKit) stop(key string) {
	k.Helper()
	if err := k.at.Stop(k.ctx, k.ref(key)); err != nil {
		k.Fatalf("stop %s: %v", key, err)
	}
}

// signal sends a signal that must succeed.
func (k *liveKit) signal(ref agent.InstanceRef, kind, data string) agent.Reply {
	k.Helper()
	reply, err := k.at.Signal(k.ctx, ref, agent.Signal{Type: kind, Data: agent.JSON(data)})
	if err != nil {
		k.Fatalf("signal %s to %s: %v", kind, ref.Key, err)
	}
	return reply
}

// holds checks an instance's state with a signal, which wakes it.
func (k *liveKit) holds(ref agent.InstanceRef, state string) agent.Reply {
	k.Helper()
	return k.tells(k.signal(ref, "get", `{}`), state)
}

// stillHolds is holds after the loss of a node: it retries the signal.
func (k *liveKit) stillHolds(ref agent.InstanceRef, state string) agent.Reply {
	k.Helper()
	return k.tells(k.retry(ref, agent.Signal{Type: "get"}), state)
}

func (k *liveKit) tells(reply agent.Reply, state string) agent.Reply {
	k.Helper()
	want := fmt.Sprintf(`{"rev":%d,"revision":%d,"state":%s}`, reply.Rev, reply.Revision, state)
	k.equal("the answer", string(reply.Data), want)
	return reply
}

// is looks an instance up, which must have the given status; "" means not_found.
func (k *liveKit) is(key string, want agent.InstanceStatus) agent.Instance {
	k.Helper()
	i, err := k.at.Lookup(k.ctx, k.ref(key))
	if want == "" {
		k.failure(agent.CodeNotFound, err)
		return i
	}
	if err != nil || i.Status != want {
		k.Fatalf("%s is %+v, %v; want %s", key, i, err, want)
	}
	return i
}

// attach attaches to instance a.
func (k *liveKit) attach(name string, ttl time.Duration) agent.Attached {
	k.Helper()
	a, err := k.at.Attach(k.ctx, k.ref("a"), agent.Attach{Attachment: name, TTL: ttl})
	if err != nil || a.Attachment != name {
		k.Fatalf("attach %s: %+v, %v", name, a, err)
	}
	return a
}

func (k *liveKit) detach(name string) {
	k.Helper()
	if err := k.at.Detach(k.ctx, k.ref("a"), name); err != nil {
		k.Fatalf("detach %s: %v", name, err)
	}
}

// sum returns the statistics of manager m over all nodes, which must all have
// answered.
func (k *liveKit) sum() agent.NodeStats {
	k.Helper()
	stats, err := k.at.Stats(k.ctx, k.scope, "m")
	if err != nil {
		k.Fatalf("stats: %v", err)
	}
	var sum agent.NodeStats
	for _, n := range stats.Nodes {
		if n.Error != "" {
			k.Fatalf("%s did not answer: %s", n.Node, n.Error)
		}
		sum.Awake, sum.Waking, sum.Draining = sum.Awake+n.Awake, sum.Waking+n.Waking, sum.Draining+n.Draining
		sum.Attachments, sum.Wakes = sum.Attachments+n.Attachments, sum.Wakes+n.Wakes
		sum.Hibernated, sum.Failed = sum.Hibernated+n.Hibernated, sum.Failed+n.Failed
		sum.Keys = append(sum.Keys, n.Keys...)
	}
	return sum
}

// appends sends an instance's nth signal, under its own request id.
func (k *liveKit) appends(ref agent.InstanceRef, n uint64) agent.Reply {
	k.Helper()
	return k.retry(ref, agent.Signal{
		Request: agent.Request{Client: "client-" + k.scope + ref.Key, Seq: n, Low: n}, Type: "append",
		Data: agent.JSON(fmt.Sprintf(`{"entries":{"payload":{"n":%d}}}`, n)),
	})
}

// retry retries a signal while it is unavailable or unknown.
func (k *liveKit) retry(ref agent.InstanceRef, signal agent.Signal) (reply agent.Reply) {
	k.Helper()
	var err error
	for range 10 {
		ctx, cancel := context.WithTimeout(k.ctx, 20*time.Second)
		reply, err = k.at.Signal(ctx, ref, signal)
		cancel()
		if code := agent.CodeOf(err); err == nil || code != agent.CodeUnknown && code != agent.CodeUnavailable {
			break
		}
	}
	if err != nil {
		k.Fatalf("signal %s to %s: %v", signal.Type, ref.Key, err)
	}
	return reply
}
