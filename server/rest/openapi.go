package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"dormouse/api/document"
)

// queryParam documents a query parameter. A name means the same in every call.
type queryParam struct {
	doc        string
	schema     huma.Schema
	many       bool // may be repeated
	mayBeEmpty bool // an empty one is as good as none
}

var (
	wholeNumber = huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(float64)}
	anyNumber   = huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	anyString   = huma.Schema{Type: huma.TypeString}
	boolean     = huma.Schema{Type: huma.TypeBoolean}
	media       = huma.Schema{Type: huma.TypeString, Format: "binary"}

	one            = 1
	nonEmptyString = huma.Schema{Type: huma.TypeString, MinLength: &one}
)

// schemaPrefix begins the references to schemas.
const schemaPrefix = "#/components/schemas/"

// anyMedia is a body of any type, taken byte for byte.
const anyMedia = "*/*"

// queryParams are all of them.
var queryParams = map[string]queryParam{
	"scope":          {doc: "The scope, for callers that cannot send Dormouse-Scope", schema: nonEmptyString},
	"with":           {doc: "A node: what would move if it joined", schema: nonEmptyString},
	"without":        {doc: "A node: what would move if it left", schema: nonEmptyString},
	"stale":          {doc: "Skip the barrier: answer from this node's own state and say how old it is", schema: boolean},
	"min_index":      {doc: "Wait until the serving node has applied this index", schema: wholeNumber},
	"agent_id":       {doc: "Only the agent's own", schema: nonEmptyString},
	"status":         {doc: "Only those of this status", schema: nonEmptyString},
	"owner":          {doc: "Only those that this owner runs, or is to be relieved of", schema: nonEmptyString},
	"owner_id":       {doc: "Only where it is the owner", schema: nonEmptyString},
	"interrupted":    {doc: "Only those that wait for a person", schema: boolean},
	"recoverable":    {doc: "Only those whose turn is to be recovered", schema: boolean},
	"before":         {doc: "Only those whose deadline comes earlier, Unix ms; 0 means any", schema: wholeNumber},
	"assignee":       {doc: "Only theirs", schema: nonEmptyString},
	"session":        {doc: "Only those of this session", schema: nonEmptyString},
	"prefix":         {doc: "Only what begins so", schema: anyString, mayBeEmpty: true},
	"after":          {doc: "The next of the page before", schema: anyString, mayBeEmpty: true},
	"limit":          {doc: "Rows of one page", schema: wholeNumber},
	"revision":       {doc: "An older revision, as far as the history goes; 0 means the current one", schema: wholeNumber},
	"if_revision":    {doc: "Apply only at this revision; 0 means that there must be none", schema: wholeNumber},
	"if_incarnation": {doc: "Apply only to this incarnation; 0 means any", schema: wholeNumber},
	"incarnation":    {doc: "Only this life of it: another one ends the watch as deleted; 0 means the one that is there", schema: wholeNumber},
	"from_index":     {doc: "The first index of the log; what comes from now on where absent, or 0", schema: wholeNumber},
	"ttl_ms":         {doc: "Expire after so long, in log time; 0 means never", schema: wholeNumber},
	"seal_ms":        {doc: "Refuse every write to it for so long", schema: wholeNumber},
	"from":           {doc: "The first seq", schema: wholeNumber},
	"to":             {doc: "The last seq, inclusive", schema: wholeNumber},
	"tail":           {doc: "Only the last so many entries", schema: wholeNumber},
	"at_rev":         {doc: "As the thread stood at this rev", schema: wholeNumber},
	"kind":           {doc: "Only entries of this kind; may be repeated", schema: huma.Schema{Type: huma.TypeArray, Items: &nonEmptyString}, many: true},
}

// headerDocs say what the headers of a request mean.
var headerDocs = map[string]string{
	headerScope:       "The tenant's own keyspace; default where absent",
	headerCluster:     "The cluster that the request is for, as answers name it: a node of another one refuses it as unavailable",
	headerTimeout:     "How long to wait, in ms: past it a write is unknown, a read unavailable. 10,000 where absent",
	headerFence:       `Apply only while the claim's epoch is its newest: claim="session:s1";epoch=7`,
	headerIdempotency: "A retry within 24 h gets the first answer",
	headerIfMatch:     `The revision (a thread's rev) in quotes: apply only there`,
	headerIfNone:      "*: apply only where there is nothing yet",
	headerLastEvent:   "Go on after this event; it outranks from and from_index",
}

// documentConfig is a huma API without anything that answers by itself.
func documentConfig(version string) huma.Config {
	return huma.Config{OpenAPI: &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Dormouse",
			Version:     version,
			Description: "A replicated store for agent state: checkpoints, append-only threads, values, claims, sessions, reviews, what agents remember.",
		},
		Components: &huma.Components{Schemas: newSchemas()},
	}}
}

// operation is what the document says of a route.
func (f *front) operation(rt *route, body any) *huma.Operation {
	op := &huma.Operation{
		OperationID: rt.id,
		Method:      rt.method,
		Path:        rt.path,
		Summary:     rt.summary,
		Tags:        []string{rt.tag},
		Parameters:  rt.parameters(),
	}
	if _, without := body.(*none); !without || rt.accepts != nil {
		op.RequestBody = f.documentBody(rt, body)
	}
	success := rt.status
	if success == 0 {
		success = http.StatusOK
	}
	op.Responses = map[string]*huma.Response{strconv.Itoa(success): f.documentAnswer(rt, success)}
	if rt.creates {
		created := f.documentAnswer(rt, http.StatusCreated)
		created.Headers["Location"] = &huma.Header{Description: "Of what was created", Schema: &anyString}
		op.Responses[strconv.Itoa(http.StatusCreated)] = created
	}
	op.Responses["default"] = &huma.Response{
		Description: "A problem; its code says which",
		Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: f.schema(document.Problem{})}},
	}
	return op
}

// schema is a reference to the schema of v's type.
func (f *front) schema(v any) *huma.Schema {
	t := reflect.TypeOf(v)
	return f.api.OpenAPI().Components.Schemas.Schema(t, true, t.Name())
}

func (f *front) documentBody(rt *route, body any) *huma.RequestBody {
	documented := &huma.RequestBody{Required: rt.bodyNeeded, Content: map[string]*huma.MediaType{}}
	for _, kind := range rt.types() {
		schema := &media
		if kind != anyMedia {
			schema = f.schema(body)
			f.taken = append(f.taken, schema)
		}
		documented.Content[kind] = &huma.MediaType{Schema: schema}
	}
	return documented
}

func (f *front) documentAnswer(rt *route, status int) *huma.Response {
	answer := &huma.Response{Description: http.StatusText(status), Headers: map[string]*huma.Param{}}
	if rt.effect == reads || rt.effect == writes {
		answer.Headers[headerIndex] = &huma.Header{Description: "The log index that the answer is of", Schema: &wholeNumber}
	}
	if rt.effect != plain {
		answer.Headers[headerNode] = &huma.Header{Description: "Who served it", Schema: &anyString}
		answer.Headers[headerCluster] = &huma.Header{Description: "The cluster that served it; send it back to refuse the nodes of any other", Schema: &anyString}
	}
	if rt.takes("stale") {
		answer.Headers[headerAge] = &huma.Header{Description: "Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell", Schema: &anyNumber}
	}
	switch {
	case rt.answers != nil:
		answer.Content = map[string]*huma.MediaType{"application/json": {Schema: f.schema(rt.answers)}}
	case rt.media != "":
		answer.Content = map[string]*huma.MediaType{rt.media: {Schema: &media}}
	}
	return answer
}

// parameters are those of the path, of the query and of the headers.
func (rt *route) parameters() []*huma.Param {
	var all []*huma.Param
	for _, name := range rt.pathParams() {
		all = append(all, &huma.Param{Name: name, In: "path", Required: true, Schema: &nonEmptyString, Description: "1 to 512 bytes of UTF-8, percent-encoded"})
	}
	names := append([]string{}, rt.query...)
	for _, name := range []string{"scope", "stale", "min_index"} {
		if rt.takes(name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		known, ok := queryParams[name]
		if !ok {
			panic("rest: " + rt.id + " declares an unknown query parameter " + name)
		}
		all = append(all, &huma.Param{Name: name, In: "query", Schema: &known.schema, Description: known.doc})
	}
	for _, name := range rt.headers() {
		all = append(all, &huma.Param{Name: name, In: "header", Schema: &nonEmptyString, Description: headerDocs[name]})
	}
	return all
}

// headers are those that the route reads.
func (rt *route) headers() []string {
	var names []string
	if rt.effect != plain {
		names = append(names, headerScope, headerCluster)
	}
	if rt.streams && (rt.takes("from") || rt.takes("from_index")) {
		names = append(names, headerLastEvent)
	}
	names = append(names, headerTimeout)
	if rt.effect == writes {
		names = append(names, headerFence)
	}
	if rt.idempotent() {
		names = append(names, headerIdempotency)
	}
	if rt.condition != "" {
		names = append(names, headerIfMatch, headerIfNone)
	}
	return names
}

// routeDocument serves the document of all that was registered before. It is
// written when somebody first asks: that takes longer than all else that a node
// does to start.
func (f *front) routeDocument() {
	register(f, route{
		method: http.MethodGet, path: "/openapi.json", id: "get-openapi", tag: "health",
		summary: "This document", media: "application/json",
	}, func(c *call, _ *none) error {
		document, err := f.document()
		if err != nil {
			return err
		}
		c.w.send(http.StatusOK, "application/json", document)
		return nil
	})
	schemas := f.api.OpenAPI().Components.Schemas
	nullThreads(schemas)
	addEmbedded(schemas)
	seen := map[string]bool{}
	for _, schema := range f.taken {
		bodyRules(schemas, schema, seen)
	}
	f.document = sync.OnceValues(func() ([]byte, error) {
		document, err := json.Marshal(f.api.OpenAPI())
		if err != nil {
			return nil, fmt.Errorf("rest: encode the OpenAPI document: %w", err)
		}
		return document, nil
	})
}
