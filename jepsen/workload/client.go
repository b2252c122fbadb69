package workload

import (
	"context"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/instance/pod"
)

// Client is what the calls of a process need.
type Client interface {
	agent.Service
	In(scope string) client.Scope
	Instances() agent.Instances
	Pods() Pods
}

// Pods are the calls on pods that workloads make. A pod.Pods has them.
type Pods interface {
	Get(ctx context.Context, ref agent.InstanceRef, open pod.Open) (pod.GetResult, error)
	Mutate(ctx context.Context, ref agent.InstanceRef, ops agent.JSON, request agent.Request) (pod.Report, error)
}

// GoClient is the Go client as a Client.
type GoClient struct{ *client.Client }

// Pods returns the cluster's pods.
func (c GoClient) Pods() Pods { return c.Client.Pods() }

// Via is what a process calls the cluster with.
type Via string

// The ways to call.
const (
	ViaGRPC  Via = ""        // the Go client
	ViaHTTP  Via = "http"    // the HTTP API
	ViaCtl   Via = "dormctl" // the program dormctl
	ViaRedis Via = "redis"   // the protocol of Redis
)

// Follows reports whether the client has watches of its own, which are not those of the Go client or of httpclient.
func (v Via) Follows() bool {
	switch v {
	case ViaGRPC, ViaHTTP, ViaRedis:
		return false
	default:
		return true
	}
}

// Told reports whether the result of a delete says whether there was something to delete. The answer 204 of HTTP does
// not; its result has an incarnation, although nothing existed.
func Told(r *agent.DeleteResult) bool { return r.Existed || r.Incarnation == 0 }

// Narrow is a Client that has only commits and reads: its process makes no calls of
// instances and pods.
type Narrow struct {
	agent.Service
}

// In returns the calls on a scope.
func (n Narrow) In(scope string) client.Scope { return client.In(n.Service, scope) }

// Instances panics: the workloads of narrow clients make no such calls.
func (Narrow) Instances() agent.Instances { panic("workload: this client has no instances") }

// Pods panics as Instances does.
func (Narrow) Pods() Pods { panic("workload: this client has no pods") }
