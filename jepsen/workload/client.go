package workload

import (
	"dormouse/agent"
	"dormouse/client"
	"dormouse/instance/pod"
)

// Client is what the calls of a process need. A *client.Client has it all.
type Client interface {
	agent.Service
	In(scope string) client.Scope
	Instances() agent.Instances
	Pods() pod.Pods
}

// Via is what a process calls the cluster with.
type Via string

// The ways to call.
const (
	ViaGRPC Via = ""        // the Go client
	ViaHTTP Via = "http"    // the HTTP API
	ViaCtl  Via = "dormctl" // the program dormctl
)

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
func (Narrow) Pods() pod.Pods { panic("workload: this client has no pods") }
