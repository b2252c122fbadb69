package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/api/openapi"
)

// queryParam documents a query parameter. A name has the same meaning in every call.
type queryParam struct {
	doc        string
	schema     huma.Schema
	many       bool // may be repeated
	mayBeEmpty bool // an empty one is the same as none
}

var (
	wholeNumber = huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(float64)}
	anyNumber   = huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	anyString   = huma.Schema{Type: huma.TypeString}
	boolean     = huma.Schema{Type: huma.TypeBoolean}
	order       = huma.Schema{Type: huma.TypeString, Enum: []any{"asc", "desc"}}
	includes    = huma.Schema{Type: huma.TypeString, Enum: []any{"body"}}
	media       = huma.Schema{Type: huma.TypeString, Format: "binary"}
	timeoutMS   = huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: number(1), Maximum: number(float64(timeoutMax / time.Millisecond))}

	one            = 1
	idMax          = agent.IDBytesMax
	keyMax         = idemKeyMax
	nonEmptyString = huma.Schema{Type: huma.TypeString, MinLength: &one}
	pathID         = huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &idMax}
)

// schemaPrefix begins the references to schemas.
const schemaPrefix = "#/components/schemas/"

func number(n float64) *float64 { return &n }

// AnyMedia is a body of any type, taken byte for byte. The document calls it bytesMedia, for which
// generators make bytes.
const (
	AnyMedia   = "*/*"
	bytesMedia = "application/octet-stream"
)

// queryParams are all query parameters.
var queryParams = map[string]queryParam{
	"scope":          {doc: "The scope, for callers that cannot send Dormouse-Scope", schema: nonEmptyString},
	"with":           {doc: "A node: what would move if it joined", schema: nonEmptyString},
	"without":        {doc: "A node: what would move if it left", schema: nonEmptyString},
	"stale":          {doc: "Skip the barrier: answer from this node's own state, with its age", schema: boolean},
	"min_index":      {doc: "Wait until the serving node has applied this index", schema: wholeNumber},
	"agent_id":       {doc: "Only those of this agent", schema: nonEmptyString},
	"status":         {doc: "Only those of this status", schema: nonEmptyString},
	"owner":          {doc: "Only sessions leased to this owner, including expired leases", schema: nonEmptyString},
	"owner_id":       {doc: "Only if this is the owner", schema: nonEmptyString},
	"interrupted":    {doc: "Only conversations that are interrupted", schema: boolean},
	"recoverable":    {doc: "Only sessions with a turn to recover: its lease has expired", schema: boolean},
	"before":         {doc: "Only those with an earlier deadline, Unix ms; 0 means any", schema: wholeNumber},
	"before_seq":     {doc: "Only records with a lower seq; 0 means any", schema: wholeNumber},
	"profile":        {doc: "The kind of the profile; heap if absent", schema: huma.Schema{Type: huma.TypeString, Enum: []any{"heap", "goroutine", "cpu"}}},
	"seconds":        {doc: "How long a CPU profile takes; 5 if absent, at most 60", schema: wholeNumber},
	"assignee":       {doc: "Only those of this assignee", schema: nonEmptyString},
	"session":        {doc: "Only those of this session", schema: nonEmptyString},
	"prefix":         {doc: "Only keys, ids or names with this prefix", schema: anyString, mayBeEmpty: true},
	"all":            {doc: "All of the kind, instead of a prefix", schema: boolean},
	"after":          {doc: "The next value of the previous page", schema: anyString, mayBeEmpty: true},
	"limit":          {doc: "Rows of one page", schema: wholeNumber},
	"order":          {doc: "asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc", schema: order},
	"since":          {doc: "Unix ms: only those of this time or later, by at of an entry and updated_at of other rows. A page may be empty although it has a next", schema: wholeNumber},
	"until":          {doc: "Unix ms: only those earlier than this time, as since; 0 means any", schema: wholeNumber},
	"metadata":       {doc: "KEY=VALUE: only those whose metadata has this member; may be repeated for others. The scope must have declared the keys with index_metadata", schema: huma.Schema{Type: huma.TypeArray, Items: &nonEmptyString}, many: true},
	"include":        {doc: "body: with the bytes, or with the state and the metadata; of changes with what each wrote", schema: includes},
	"revision":       {doc: "An older revision that is kept; 0 means the current one", schema: wholeNumber},
	"if_revision":    {doc: "Apply only at this revision; 0 means that it must not exist", schema: wholeNumber},
	"if_incarnation": {doc: "Apply only to this incarnation; 0 means any", schema: wholeNumber},
	"incarnation":    {doc: "Only this incarnation: another one ends the watch as deleted; 0 means the current one", schema: wholeNumber},
	"from_index":     {doc: "The first index of the log; only new changes if absent or 0", schema: wholeNumber},
	"entry":          {doc: "The id of the entry, unique in the thread; generated if absent", schema: nonEmptyString},
	"entry_kind":     {doc: "The kind of the entry; note if absent", schema: nonEmptyString},
	"expected_rev":   {doc: "Apply only at this rev; a missing thread is at 0", schema: wholeNumber},
	"on_exists":      {doc: "skip keeps a value that exists; replace if absent", schema: huma.Schema{Type: huma.TypeString, Enum: []any{"replace", "skip"}}},
	"upsert":         {doc: "Patch a missing checkpoint as an empty one", schema: boolean},
	"shallow":        {doc: "Members of the patch replace those of the state whole", schema: boolean},
	"ttl_ms":         {doc: "Expire after this time, in log time; 0 means never", schema: wholeNumber},
	"seal_ms":        {doc: "Refuse every write to this id for this time", schema: wholeNumber},
	"from":           {doc: "The first seq", schema: wholeNumber},
	"to":             {doc: "The last seq, inclusive", schema: wholeNumber},
	"tail":           {doc: "Only the last entries, at most this many", schema: wholeNumber},
	"at_rev":         {doc: "The thread at this rev", schema: wholeNumber},
	"kind":           {doc: "Only entries of this kind; may be repeated", schema: huma.Schema{Type: huma.TypeArray, Items: &nonEmptyString}, many: true},
}

// headerDocs document the headers of a request.
var headerDocs = map[string]string{
	headerScope:       "The tenant's own keyspace; default if absent",
	headerCluster:     "The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable",
	headerTimeout:     "The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent",
	headerFence:       `Apply only if the claim's current epoch is this: claim="session:s1";epoch=7`,
	headerIdempotency: "A retry within 24 h gets the first answer",
	headerIfMatch:     `The revision (a thread's rev) in quotes: apply only there`,
	headerIfNone:      "*: apply only if it does not exist",
	HeaderLastEvent:   "Continue after this event; takes precedence over from and from_index",
}

// headerSchemas are the schemas of headers that are not any string.
var headerSchemas = map[string]*huma.Schema{
	headerScope:       &pathID,
	headerTimeout:     &timeoutMS,
	headerIdempotency: {Type: huma.TypeString, MinLength: &one, MaxLength: &keyMax},
}

// description is the OpenAPI document while it is made.
type description struct {
	document *huma.OpenAPI
	taken    []*huma.Schema // schemas of request bodies
	given    []*huma.Schema // schemas of answers
}

// operation returns the documentation of a route.
func (d *description) operation(rt *Route, body any) *huma.Operation {
	op := &huma.Operation{
		OperationID: rt.ID,
		Method:      rt.Method,
		Path:        rt.Path,
		Summary:     rt.Summary,
		Description: rt.description(),
		Tags:        []string{rt.Tag},
		Parameters:  rt.parameters(),
	}
	if _, without := body.(*None); !without || rt.Accepts != nil {
		op.RequestBody = d.documentBody(rt, body)
	}
	if rule := access.OfRoute(rt.ID); rule.Open() {
		op.Security = []map[string][]string{}
	} else if verbs := rule.Verbs(); len(verbs) > 0 {
		op.Extensions = map[string]any{"x-dormouse-verbs": verbs}
	}
	success := rt.Status
	if success == 0 {
		success = http.StatusOK
	}
	op.Responses = map[string]*huma.Response{strconv.Itoa(success): d.documentAnswer(rt, success)}
	if rt.Creates {
		created := d.documentAnswer(rt, http.StatusCreated)
		created.Headers["Location"] = &huma.Header{Description: "The path of what was created", Schema: &anyString}
		op.Responses[strconv.Itoa(http.StatusCreated)] = created
	}
	if rt.Follows {
		accepted := d.documentAnswer(rt, http.StatusAccepted)
		accepted.Headers["Location"] = &huma.Header{Description: "The path of the receipt", Schema: &anyString}
		op.Responses[strconv.Itoa(http.StatusAccepted)] = accepted
	}
	openapi.Refusals(op, rt.refusals(op.RequestBody != nil)...)
	openapi.Exemplify(op)
	return op
}

// schema returns a reference to the schema of v's type.
func (d *description) schema(v any) *huma.Schema {
	t := reflect.TypeOf(v)
	return d.document.Components.Schemas.Schema(t, true, t.Name())
}

func (d *description) documentBody(rt *Route, body any) *huma.RequestBody {
	documented := &huma.RequestBody{Required: rt.BodyNeeded, Content: map[string]*huma.MediaType{}}
	for _, kind := range rt.types() {
		schema := &media
		if kind == AnyMedia {
			kind = bytesMedia
		} else {
			schema = d.schema(body)
			d.taken = append(d.taken, schema)
		}
		documented.Content[kind] = &huma.MediaType{Schema: schema}
	}
	return documented
}

func (d *description) documentAnswer(rt *Route, status int) *huma.Response {
	answer := &huma.Response{Description: http.StatusText(status), Headers: map[string]*huma.Param{}}
	answer.Headers[headerIndex] = &huma.Header{Description: "The log index that the answer is of, or the newest that this node has applied", Schema: &wholeNumber}
	if rt.Effect != Plain {
		answer.Headers[headerNode] = &huma.Header{Description: "Who served it", Schema: &anyString}
		answer.Headers[headerCluster] = &huma.Header{Description: "The cluster that served it; send it back to refuse the nodes of any other", Schema: &anyString}
	}
	if rt.takes("stale") {
		answer.Headers[headerAge] = &huma.Header{Description: "Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell", Schema: &anyNumber}
	}
	if rt.tagged() && status != http.StatusNoContent {
		answer.Headers["ETag"] = &huma.Header{Description: "The revision (a thread's rev) in quotes, if what is answered has one", Schema: &anyString}
	}
	if rt.ID == "get-value" || rt.ID == "read-file" {
		answer.Headers[HeaderIncarnation] = &huma.Header{Description: "The incarnation of the value, in which its revisions count; for if_incarnation", Schema: &wholeNumber}
	}
	switch {
	case rt.Answers != nil:
		schema := d.schema(rt.Answers)
		d.given = append(d.given, schema)
		answer.Content = map[string]*huma.MediaType{"application/json": {Schema: schema}}
	case rt.Events != nil:
		answer.Content = map[string]*huma.MediaType{rt.Media: d.documentEvents(rt)}
	case rt.Media == AnyMedia:
		answer.Content = map[string]*huma.MediaType{bytesMedia: {Schema: &media}}
	case rt.Media == "application/json":
		answer.Content = map[string]*huma.MediaType{rt.Media: {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}}
	case strings.HasPrefix(rt.Media, "text/"):
		answer.Content = map[string]*huma.MediaType{rt.Media: {Schema: &anyString}}
	case rt.Media != "":
		answer.Content = map[string]*huma.MediaType{rt.Media: {Schema: &media}}
	}
	return answer
}

// documentEvents returns the documentation of a stream. Its schema is that of the data of an event,
// which generated clients pass on; x-dormouse-events names the schema of each kind of event.
func (d *description) documentEvents(rt *Route) *huma.MediaType {
	schema, kinds := &huma.Schema{}, map[string]string{}
	var seen []string
	for _, kind := range slices.Sorted(maps.Keys(rt.Events)) {
		data := d.schema(rt.Events[kind])
		kinds[kind] = data.Ref
		if !slices.Contains(seen, data.Ref) {
			seen = append(seen, data.Ref)
			schema.AnyOf = append(schema.AnyOf, data)
			d.given = append(d.given, data)
		}
	}
	schema.Description = "The data of an event, by its kind: " + strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
	return &huma.MediaType{Schema: schema, Extensions: map[string]any{"x-dormouse-events": kinds}}
}

// parameters returns the parameters of the path, of the query and of the headers.
func (rt *Route) parameters() []*huma.Param {
	var all []*huma.Param
	for _, name := range rt.pathParams() {
		all = append(all, &huma.Param{Name: name, In: "path", Required: true, Schema: &pathID, Description: "1 to 512 bytes of UTF-8, percent-encoded"})
	}
	names := append([]string{}, rt.Query...)
	for _, name := range []string{"scope", "stale", "min_index"} {
		if rt.takes(name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		known, ok := queryParams[name]
		if !ok {
			panic("web: " + rt.ID + " declares an unknown query parameter " + name)
		}
		all = append(all, &huma.Param{Name: name, In: "query", Schema: openapi.Bounded(rt.ID, name, known.schema), Description: known.doc})
	}
	for _, name := range rt.headers() {
		schema := &nonEmptyString
		if limited, ok := headerSchemas[name]; ok {
			schema = limited
		}
		doc := headerDocs[name]
		if name == headerIdempotency && rt.Again != "" {
			doc = "A retry " + rt.Again
		}
		all = append(all, &huma.Param{Name: name, In: "header", Schema: schema, Description: doc})
	}
	return all
}

// headers returns the names of the headers that the route reads.
func (rt *Route) headers() []string {
	var names []string
	if rt.Effect != Plain {
		names = append(names, headerScope, headerCluster)
	}
	if rt.Streams && (rt.takes("from") || rt.takes("from_index")) {
		names = append(names, HeaderLastEvent)
	}
	names = append(names, headerTimeout)
	if rt.Effect == Writes {
		names = append(names, headerFence)
	}
	if rt.idempotent() {
		names = append(names, headerIdempotency)
	}
	if rt.Condition != "" {
		names = append(names, headerIfMatch, headerIfNone)
	}
	return names
}

// RouteDocument serves the document of all routes registered before. It is made at the first
// request, because that takes longer than the rest of a node's start.
func (f *API) RouteDocument() {
	Register(f, Route{
		Method: http.MethodGet, Path: "/openapi.json", ID: "get-openapi", Tag: "health",
		Summary: "This document", Media: "application/json",
	}, func(c *Request, _ *None) error {
		document, err := f.document()
		if err != nil {
			return err
		}
		f.send(c.Writer, http.StatusOK, "application/json", document)
		return nil
	})
	f.document = sync.OnceValues(f.describe)
}

// describe returns the document of all routes.
func (f *API) describe() ([]byte, error) {
	d := &description{document: openapi.New(f.Options.Version, newSchemas())}
	for _, add := range f.described {
		add(d)
	}
	schemas := d.document.Components.Schemas
	allowNulls(schemas)
	addEmbedded(schemas)
	asked, given := map[string]bool{}, map[string]bool{}
	for _, schema := range d.taken {
		openapi.Request(schemas, schema, asked)
	}
	problem := d.schema(document.Problem{})
	for _, schema := range append(d.given, problem) {
		openapi.Answer(schemas, schema, given)
	}
	encoded, err := json.Marshal(d.document)
	if err != nil {
		return nil, fmt.Errorf("web: encode the OpenAPI document: %w", err)
	}
	return encoded, nil
}
