package instance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/hooksign"
	"dormouse/internal/retry"
	"dormouse/internal/strictjson"
	"dormouse/internal/tracing"
	"dormouse/internal/wildcard"
)

// Webhooks configures this node's HTTP handlers. The host POSTs the signal and
// the state to the endpoint; the response has the turn's changes.
//
// A request carries Dormouse-Signature: "t=<unix seconds>,v1=<hex>". v1 is the
// HMAC-SHA256, under the manager's key, of the seconds, a full stop and the
// body. The host may repeat a request that fails. An endpoint with side effects
// must recognise repeats by the header Dormouse-Signal, which all repeats
// share.
type Webhooks struct {
	Allow     []string // hosts, with the port if it is not the scheme's default; empty allows no HTTP handlers
	Keys      []WebhookKey
	Transport http.RoundTripper // nil means a transport like http.DefaultTransport
}

// WebhookKey signs requests of the managers that name it. It is bound to a host and to
// scopes: another scope cannot have its own requests signed with the key, and no scope
// can send requests signed with it to another host.
type WebhookKey struct {
	Name   string
	Host   string // with the port if it is not the scheme's default
	Scope  string // or a prefix of scopes, such as team-*
	Secret []byte // at least 16 bytes
}

// Limits of a call of an HTTP handler.
const (
	webhookBytesMax = agent.CommitBytesMax // of a response
	webhookTries    = 3
	webhookBackoff  = 100 * time.Millisecond // doubled after each attempt
)

func (w Webhooks) validate() error {
	for _, key := range w.Keys {
		if len(key.Secret) < hooksign.SecretMin {
			return fmt.Errorf("key %q of HTTP handlers has %d bytes: use at least %d", key.Name, len(key.Secret), hooksign.SecretMin)
		}
	}
	return nil
}

// webhookRequest is the body of a request.
type webhookRequest struct {
	Scope    string         `json:"scope"`
	Manager  string         `json:"manager"`
	Key      string         `json:"key"`
	Version  uint64         `json:"version"`
	Type     string         `json:"type"`
	Data     jsontext.Value `json:"data"`
	State    jsontext.Value `json:"state"`
	Thread   string         `json:"thread"`
	Rev      uint64         `json:"rev"`
	Revision uint64         `json:"revision"`
}

// webhookReply is the body of a response. All members are optional.
type webhookReply struct {
	State   jsontext.Value  `json:"state"` // the whole state
	Patch   jsontext.Value  `json:"patch"` // or a merge patch
	Entries document.Drafts `json:"entries"`
	Timers  jsontext.Value  `json:"timers"`
	Cron    jsontext.Value  `json:"cron"`
	Reply   jsontext.Value  `json:"reply"`
}

// callWebhook calls the HTTP endpoint of a signal's handler.
func (rn *runner) callWebhook(ctx context.Context, i *instance, manager agent.Manager, t *Turn) error {
	secret, err := rn.o.Webhooks.secretFor(i.ref().Scope, manager.Handler)
	if err != nil {
		return err
	}
	ref := i.ref()
	body, err := json.Marshal(webhookRequest{
		Scope: ref.Scope, Manager: ref.Manager, Key: ref.Key, Version: manager.Version, Type: t.Type(), Data: jsontext.Value(t.Data()),
		State: jsontext.Value(t.State()), Thread: ref.Checkpoint(), Rev: t.Rev(), Revision: t.Revision(),
	})
	if err != nil {
		return failed("error", "%v", err)
	}
	attempts := retry.New(webhookBackoff, webhookBackoff<<webhookTries)
	for try := 1; ; try++ {
		reply, again, err := rn.o.Webhooks.post(ctx, manager.Handler.URL, secret, t.name, body)
		if err == nil {
			return t.applyWebhook(reply)
		}
		if !again || try == webhookTries || !attempts.Wait(ctx) {
			return webhookError(ctx, manager, err)
		}
	}
}

// webhookError returns the error of a failed call.
func webhookError(ctx context.Context, manager agent.Manager, err error) error {
	cause := context.Cause(ctx)
	ended := interrupted(ctx)
	switch {
	case ended != nil:
		return ended
	case cause != nil:
		return failed("timeout", "the handler at %s took longer than %v", hooksign.Place(manager.Handler.URL), manager.SignalTimeout())
	default:
		return err
	}
}

// secretFor returns the secret that signs a scope's requests to an endpoint, or nil if
// they are not signed. It refuses an endpoint that this node may not call, and a key that
// is not bound to the scope and the endpoint's host.
func (w Webhooks) secretFor(scope string, handler agent.Handler) ([]byte, error) {
	address, err := url.Parse(handler.URL)
	if err != nil || !slices.Contains(w.Allow, address.Host) {
		return nil, failed("not_allowed", "this node may not call %s: its host is not in the list of allowed webhook hosts", hooksign.Place(handler.URL))
	}
	if handler.Key == "" {
		return nil, nil
	}
	for _, key := range w.Keys {
		if key.Name == handler.Key && key.Host == address.Host && wildcard.Match(key.Scope, scope) {
			return key.Secret, nil
		}
	}
	return nil, failed("no_key", "this node has no key %q to sign requests of scope %q to %s with: see its instances.keys", handler.Key, scope, address.Host)
}

// post sends one request. again reports whether a failed request may be
// repeated.
func (w Webhooks) post(ctx context.Context, to string, secret []byte, id string, body []byte) (reply []byte, again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, false, failed("not_allowed", "%v", hooksign.Cause(err))
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Dormouse-Signal", id)
	tracing.ToHeader(ctx, request.Header)
	if secret != nil {
		request.Header.Set(hooksign.Header, hooksign.Sign(secret, time.Now(), body))
	}
	client := http.Client{
		Transport: w.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // redirects could lead to a host that is not allowed
		},
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, true, failed("unreachable", "the handler at %s: %v", hooksign.Place(to), hooksign.Cause(err))
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusNoContent {
		again = response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError
		return nil, again, failed("status", "the handler at %s answered %s", hooksign.Place(to), response.Status)
	}
	reply, err = io.ReadAll(http.MaxBytesReader(nil, response.Body, webhookBytesMax))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, false, failed("too_large", "the handler at %s answered with more than %d bytes", hooksign.Place(to), webhookBytesMax)
	case err != nil:
		return nil, true, failed("unreachable", "its answer did not arrive whole: %v", err)
	}
	return reply, false, nil
}

// applyWebhook applies an endpoint's response to the turn.
func (t *Turn) applyWebhook(body []byte) error {
	var want webhookReply
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	raw, err := agent.CompactObject("answer", body)
	if err == nil {
		err = strictjson.Unmarshal(raw, &want)
	}
	if err == nil && isSet(want.State) && isSet(want.Patch) {
		err = agent.Invalid("patch", `the answer has both "state" and "patch": send one of them`)
	}
	if err == nil && isSet(want.State) {
		err = t.SetState(agent.JSON(want.State))
	}
	if err == nil && isSet(want.Patch) {
		err = t.Patch(agent.JSON(want.Patch))
	}
	if err == nil && isSet(want.Reply) {
		err = t.Reply(agent.JSON(want.Reply))
	}
	if err == nil {
		err = t.setTimers(want.Timers)
	}
	if err == nil && isSet(want.Cron) {
		err = t.PatchCron(agent.JSON(want.Cron))
	}
	if err != nil {
		return t.rejectChange(err)
	}
	t.Append(want.Entries.ToAgent()...)
	return nil
}
