package httpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	"dormouse/agent"
)

// instances makes the calls on live instances.
type instances struct{ client *Client }

// Instances returns the cluster's live instances.
func (c *Client) Instances() agent.Instances { return instances{c} }

// on makes a call on an instance and decodes its answer, unless into is nil. A call at one node may take as
// long as ctx lasts, because an owner that was cut off answers late. It may be repeated: it has a key, or does the
// same when it is made again.
func (i instances) on(ctx context.Context, r request, into func([]byte) error) error {
	r.patient = !i.client.o.Retries
	if r.body != nil {
		r.media = mediaJSON
	}
	r.decode = func(a *answer) error {
		if into == nil {
			return nil
		}
		return into(a.body)
	}
	return i.client.call(ctx, &r, true)
}

// keyOf returns the idempotency key of a call with a request id, or of one without.
func (c *Client) keyOf(asked agent.Request) string {
	if asked == (agent.Request{}) {
		return fmt.Sprintf("%s/%d", c.o.ID, c.last.Add(1))
	}
	return fmt.Sprintf("%s/%d", asked.Client, asked.Seq)
}

func callOf(method string, ref agent.InstanceRef, verb string, body any) request {
	r := request{method: method, path: instancePath(ref.Manager, ref.Key) + verb, scope: ref.Scope}
	if body != nil {
		r.body = encode(formed(body))
	}
	return r
}

// instanceIn decodes an instance, whose thread is an object in its document.
func instanceIn(into *agent.Instance, ref agent.InstanceRef) func([]byte) error {
	return func(raw []byte) error {
		var d struct {
			Thread struct {
				ID  string `json:"id"`
				Rev uint64 `json:"rev"`
			} `json:"thread"`
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		into.Scope, into.Thread, into.Rev = ref.Scope, d.Thread.ID, d.Thread.Rev
		return unform(raw, into)
	}
}

func (i instances) Start(ctx context.Context, ref agent.InstanceRef, start agent.StartInstance) (found agent.Instance, err error) {
	err = i.on(ctx, callOf(http.MethodPost, ref, "", start), instanceIn(&found, ref))
	return found, err
}

func (i instances) Lookup(ctx context.Context, ref agent.InstanceRef) (found agent.Instance, err error) {
	err = i.on(ctx, callOf(http.MethodGet, ref, "", nil), instanceIn(&found, ref))
	return found, err
}

func (i instances) Stop(ctx context.Context, ref agent.InstanceRef) error {
	return i.on(ctx, callOf(http.MethodDelete, ref, "", nil), nil)
}

func (i instances) Hibernate(ctx context.Context, ref agent.InstanceRef) error {
	return i.on(ctx, callOf(http.MethodPost, ref, "/hibernate", nil), nil)
}

func (i instances) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (found agent.Attached, err error) {
	err = i.on(ctx, callOf(http.MethodPost, ref, "/attach", attach), func(raw []byte) error {
		if err := instanceIn(&found.Instance, ref)(raw); err != nil {
			return err
		}
		var d struct {
			Attachment string `json:"attachment"`
			ExpiresAt  int64  `json:"expires_at"`
		}
		err := json.Unmarshal(raw, &d)
		found.Attachment, found.ExpiresAt = d.Attachment, d.ExpiresAt
		return err
	})
	return found, err
}

func (i instances) Detach(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	return i.on(ctx, callOf(http.MethodPost, ref, "/detach", agent.Attach{Attachment: attachment}), nil)
}

func (i instances) Touch(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	return i.on(ctx, callOf(http.MethodPost, ref, "/touch", agent.Attach{Attachment: attachment}), nil)
}

func (i instances) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (reply agent.Reply, err error) {
	asked := signal.Request
	signal.Request = agent.Request{}
	r := callOf(http.MethodPost, ref, "/signals", signal)
	r.key = i.client.keyOf(asked)
	err = i.on(ctx, r, func(raw []byte) error { return unform(raw, &reply) })
	return reply, err
}

func (i instances) Stats(ctx context.Context, scope, manager string) (stats agent.ManagerStats, err error) {
	r := request{method: http.MethodGet, path: "/v1/managers/" + url.PathEscape(manager) + "/stats", scope: scope}
	err = i.on(ctx, r, func(raw []byte) error { return unform(raw, &stats) })
	return stats, err
}

// Watch is refused: no workload watches instances.
func (instances) Watch(context.Context, agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		yield(agent.InstanceEvent{}, agent.Errorf(agent.CodeInvalid, "this HTTP client watches no instances"))
	}
}
