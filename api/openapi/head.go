package openapi

import (
	"github.com/danielgtaylor/huma/v2"
)

// tags describe the groups of operations, in the order in which documentation shows them.
var tags = []*huma.Tag{
	{Name: "commits", Description: "Several ops that apply all or none, and several reads at one index."},
	{Name: "values", Description: "Opaque bytes under a key, with their content type."},
	{Name: "files", Description: "Values whose keys are paths, with metadata."},
	{Name: "checkpoints", Description: "The state of an agent under a key, with a revision and a bounded history."},
	{Name: "threads", Description: "Append-only journals of entries, chained by a hash."},
	{Name: "agents", Description: "A checkpoint with its thread: hibernate, thaw, fork and erase."},
	{Name: "sessions", Description: "Turns of agents under leases: at most one runs at a time."},
	{Name: "reviews", Description: "Decisions of people that turns wait for."},
	{Name: "conversations", Description: "The state and the messages of a chat, and messages that wait for a busy agent."},
	{Name: "memory", Description: "What agents remember, found by time, fields, words and vectors."},
	{Name: "claims", Description: "Named locks with a holder, an epoch and a ttl. A fence is a claim at an epoch."},
	{Name: "managers", Description: "Settings of live instances."},
	{Name: "instances", Description: "Live instances of agents, each on one node at a time."},
	{Name: "pods", Description: "Instances whose state names other instances, as one topology."},
	{Name: "timers", Description: "Recurring and single wake-ups of instances."},
	{Name: "deletions", Description: "Receipts of deletions by prefix."},
	{Name: "scopes", Description: "Keyspaces of tenants, their policies, and the feed of their changes."},
	{Name: "tokens", Description: "Bearer tokens and what they allow."},
	{Name: "cluster", Description: "Members, backups and placement, for operators."},
	{Name: "health", Description: "Probes, metrics and this document."},
}

const about = `A replicated store for agent state: checkpoints, append-only threads, values, claims, sessions, reviews, what agents remember.

Every answer of an error is a problem (RFC 9457) with a ` + "`code`" + `. A call has one of three outcomes. It is *done*. It is *refused*, and was not applied.
Or it is *unknown* (status 504, or no answer at all): a write may have been applied, so send it again with the same ` + "`Idempotency-Key`" + `.

Times are Unix milliseconds. Whole numbers have up to 64 bits. Requests may not have members that this document lacks; answers may.`

// New returns a document without operations. schemas is where the types of bodies go.
func New(version string, schemas huma.Registry) *huma.OpenAPI {
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Dormouse", Version: version, Description: about,
			Contact: &huma.Contact{Name: "The Dormouse maintainers"},
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{{URL: "http://127.0.0.1:7600", Description: "A node on its default address; any node serves any call"}},
		Components: &huma.Components{
			Schemas: schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {Type: "http", Scheme: "bearer", Description: "A token of the cluster, or of an OIDC issuer. A node with auth.mode off needs none. " +
					"A client certificate is another way to authenticate"},
			},
		},
		Security: []map[string][]string{{"token": {}}},
		Tags:     tags,
	}
	doc.Components.Responses = problems(schemas)
	return doc
}
