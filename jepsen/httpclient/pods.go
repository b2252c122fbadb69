package httpclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// Pods makes the calls on pods.
type Pods struct{ client *Client }

// PodCalls returns the calls on the cluster's pods.
func (c *Client) PodCalls() Pods { return Pods{c} }

// Get creates a pod if it does not exist, and starts its eager nodes. If nodes fail, it returns the report
// and reconcile_failed.
func (p Pods) Get(ctx context.Context, ref agent.InstanceRef, open pod.Open) (got pod.GetResult, err error) {
	body := members{}
	body.json("topology", agent.JSON(open.Topology))
	body.json("initial_state", agent.JSON(open.InitialState))
	r := podCall(ref, "", body)
	r.refused = reportIn(&got.Report)
	err = instances(p).on(ctx, r, func(raw []byte) error {
		var d struct {
			Created         bool           `json:"created"`
			TopologyVersion uint64         `json:"topology_version"`
			Report          pod.Reconciled `json:"report"`
		}
		err := json.Unmarshal(raw, &d)
		got = pod.GetResult{Opened: pod.Opened{Created: d.Created, TopologyVersion: d.TopologyVersion}, Report: d.Report}
		return err
	})
	return got, err
}

// Mutate changes a pod's topology, once under the request id. If nodes fail, it returns the report and
// mutation_failed.
func (p Pods) Mutate(ctx context.Context, ref agent.InstanceRef, ops agent.JSON, request agent.Request) (report pod.Report, err error) {
	body := members{}
	body.json("ops", ops)
	r := podCall(ref, "/mutate", body)
	r.refused, r.key = reportIn(&report), p.client.keyOf(request)
	err = instances(p).on(ctx, r, func(raw []byte) error { return json.Unmarshal(raw, &report) })
	return report, err
}

func podCall(ref agent.InstanceRef, verb string, body members) request {
	return request{
		method: http.MethodPost, path: "/v1/pods/" + url.PathEscape(ref.Manager) + "/" + url.PathEscape(ref.Key) + verb, scope: ref.Scope, body: encode(body),
	}
}

// reportIn decodes the report in a problem, if it has one.
func reportIn[R any](into *R) func(problem []byte) {
	return func(problem []byte) {
		var d struct {
			Report *R `json:"report"`
		}
		if json.Unmarshal(problem, &d) == nil && d.Report != nil {
			*into = *d.Report
		}
	}
}
