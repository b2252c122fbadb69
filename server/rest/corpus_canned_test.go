package rest_test

import (
	"context"
	"io"
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/instance/pod"
)

// canned answers each op and each read with a result of its type, whose fields all have a value
// (fill is 1) or none (fill is 0). It accepts every request.
type canned struct {
	*fake
	fill int
	ops  []agent.Op // of the commits
}

// results are the types of the results of ops; all others result in a DeleteResult.
var results = map[agent.OpResult][]agent.Op{
	&agent.ValueResult{}:      {&agent.PutValue{}, &agent.ReviseValue{}},
	&agent.CheckpointResult{}: {&agent.PutCheckpoint{}, &agent.PatchCheckpoint{}, &agent.PatchCron{}},
	&agent.ThreadResult{}:     {&agent.AppendThread{}, &agent.HibernateThread{}, &agent.CompactThread{}, &agent.ForkThread{}, &agent.SetTTL{}},
	&agent.ScopeResult{}:      {&agent.PutScope{}, &agent.IndexMetadata{}},
	&agent.ClaimResult{}:      {&agent.TakeClaim{}, &agent.RenewClaim{}, &agent.ReleaseClaim{}},
	&agent.SessionResult{}: {
		&agent.PutSession{}, &agent.ClaimSession{}, &agent.ResumeSession{}, &agent.RecoverSession{}, &agent.CheckpointSession{},
		&agent.CommitSession{}, &agent.RenewSession{}, &agent.CancelSession{}, &agent.ForkSession{},
	},
	&agent.ReviewResult{}:       {&agent.DecideReview{}},
	&agent.MemoryResult{}:       {&agent.WriteMemory{}},
	&agent.ManagerResult{}:      {&agent.PutManager{}},
	&agent.TimerResult{}:        {&agent.PutTimer{}, &agent.AckTimer{}},
	&agent.ConversationResult{}: {&agent.SaveConversation{}, &agent.SetInterrupted{}, &agent.PendMessage{}, &agent.SaveMessages{}},
	&agent.MessageResult{}:      {&agent.UpdateMessage{}},
	&agent.ForkedAgent{}:        {&agent.ForkAgent{}},
	&agent.TokenResult{}:        {&agent.PutToken{}},
	&agent.Erasure{}:            {&agent.EraseAgent{}},
	&agent.PrefixDeletion{}:     {&agent.DeletePrefix{}},
}

// found are the types of the answers of reads.
var found = map[agent.Found][]agent.Read{
	&agent.Value{}:             {&agent.GetValue{}},
	&agent.ValueList{}:         {&agent.ListValues{}},
	&agent.Checkpoint{}:        {&agent.GetCheckpoint{}},
	&agent.CheckpointList{}:    {&agent.ListCheckpoints{}, &agent.CheckpointHistory{}},
	&agent.Thread{}:            {&agent.GetThread{}},
	&agent.ThreadList{}:        {&agent.ListThreads{}},
	&agent.Entries{}:           {&agent.LoadEntries{}},
	&agent.Entry{}:             {&agent.GetEntry{}},
	&agent.Verified{}:          {&agent.VerifyThread{}},
	&agent.Thawed{}:            {&agent.Thaw{}},
	&agent.ScopeList{}:         {&agent.ListScopes{}},
	&agent.Scope{}:             {&agent.GetScope{}},
	&agent.Claim{}:             {&agent.GetClaim{}},
	&agent.ClaimList{}:         {&agent.ListClaims{}},
	&agent.Session{}:           {&agent.GetSession{}},
	&agent.SessionList{}:       {&agent.ListSessions{}},
	&agent.Review{}:            {&agent.GetReview{}},
	&agent.ReviewList{}:        {&agent.ListReviews{}},
	&agent.Manager{}:           {&agent.GetManager{}},
	&agent.ManagerList{}:       {&agent.ListManagers{}},
	&agent.Memory{}:            {&agent.GetMemory{}},
	&agent.MemoryList{}:        {&agent.ListMemories{}},
	&agent.Recalled{}:          {&agent.Recall{}},
	&agent.Timer{}:             {&agent.GetTimer{}},
	&agent.TimerList{}:         {&agent.ListTimers{}},
	&agent.SavedConversation{}: {&agent.GetConversation{}},
	&agent.ConversationList{}:  {&agent.ListConversations{}},
	&agent.MessageList{}:       {&agent.ListMessages{}},
	&agent.Erasure{}:           {&agent.GetErasure{}},
	&agent.PrefixDeletion{}:    {&agent.GetDeletion{}},
	&agent.DeletionList{}:      {&agent.ListDeletions{}},
	&agent.Token{}:             {&agent.GetToken{}},
	&agent.TokenList{}:         {&agent.ListTokens{}},
}

// answerTo returns a new value of the type that answers asked, nil if the table has none.
func answerTo[Answer comparable, Asked any](table map[Answer][]Asked, asked Asked) any {
	for answer, all := range table {
		for _, each := range all {
			if reflect.TypeOf(each) == reflect.TypeOf(asked) {
				return reflect.New(reflect.TypeOf(answer).Elem()).Interface()
			}
		}
	}
	return nil
}

func (c *canned) Commit(_ context.Context, commit agent.Commit) (agent.Result, error) {
	c.ops = append(c.ops, commit.Ops...)
	result := agent.Result{Index: 12, Time: 13}
	for _, op := range commit.Ops {
		answer, ok := answerTo(results, op).(agent.OpResult)
		if ttl, sets := op.(*agent.SetTTL); sets && ttl.Conversation != "" {
			answer = &agent.ConversationResult{}
		} else if sets && ttl.Session != "" {
			answer = &agent.SessionResult{}
		} else if !ok {
			answer = &agent.DeleteResult{}
		}
		filled(answer, c.fill)
		if c.fill == 0 {
			needed(answer)
		}
		result.Results = append(result.Results, answer)
	}
	return result, nil
}

func (c *canned) Read(_ context.Context, r agent.Reads) (agent.Answers, error) {
	answers := agent.Answers{Index: 12, Node: "n1", AgeMS: 14}
	for _, read := range r.Reads {
		answer, ok := answerTo(found, read).(agent.Found)
		if !ok {
			return answers, agent.Errorf(agent.CodeInternal, "no answer to a %T", read)
		}
		filled(answer, c.fill)
		if c.fill == 0 {
			needed(answer)
		}
		makePod(read, answer)
		if asked, ok := read.(*agent.LoadEntries); ok && asked.From > 0 {
			answer.(*agent.Entries).Next = nil // there are two pages
		}
		answers.Answers = append(answers.Answers, agent.Answer{Found: answer})
	}
	return answers, nil
}

// makePod makes the manager teams one that keeps pods, and its checkpoints those of pods.
func makePod(read agent.Read, answer agent.Found) {
	switch asked := read.(type) {
	case *agent.GetManager:
		if m := answer.(*agent.Manager); asked.Name == "teams" {
			m.Handler, m.Storage = agent.Handler{Kind: agent.HandlerGo, Name: pod.HandlerName}, agent.KeepCluster
		}
	case *agent.GetCheckpoint:
		if strings.HasPrefix(asked.Key, "instances/teams/") {
			answer.(*agent.Checkpoint).State = agent.JSON(`{"__pod__":{"topology":{"name":"team","version":1,
				"nodes":{"a":{"kind":"agent","manager":"agents","activation":"eager"}},"links":[]},"topology_version":1,"mutation":{"status":"idle"}}}`)
		}
	}
}

// Watch yields an event of each kind.
func (c *canned) Watch(_ context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for _, kind := range []agent.EventKind{agent.EventEntry, agent.EventClaim, agent.EventChanges, agent.EventCompacted} {
			event := agent.Event{}
			filled(&event, c.fill)
			event.Kind = kind
			if kind == agent.EventChanges && c.fill == 1 {
				for _, changed := range []agent.ChangeKind{agent.ChangedThread, agent.ChangedClaim, agent.ChangedReview} {
					next := event.Changes[0]
					next.Kind, next.Deleted = changed, false
					event.Changes = append(event.Changes, next)
				}
			}
			of := map[bool]agent.EventKind{w.Changes: agent.EventChanges, w.Claim != "": agent.EventClaim, w.Thread != "": agent.EventEntry}[true]
			if kind != of && (kind != agent.EventCompacted || w.Claim != "") {
				continue
			}
			if !yield(event, nil) {
				return
			}
		}
	}
}

func (c *canned) Status(context.Context) (status layout.ClusterStatus, err error) {
	filled(&status, c.fill)
	return status, nil
}

func (c *canned) Backup(_ context.Context, w io.Writer) error {
	_, err := w.Write([]byte("a whole store"))
	return err
}

func (c *canned) Backups(context.Context) (all layout.Backups, err error) {
	filled(&all, c.fill)
	return all, nil
}

func (c *canned) TakeBackup(context.Context, func(layout.BackupProgress)) (b layout.BackupInfo, err error) {
	filled(&b, c.fill)
	return b, nil
}

func (c *canned) JoinToken(context.Context, time.Duration) (token layout.JoinToken, err error) {
	filled(&token, c.fill)
	return token, nil
}

func (c *canned) Placement(_ context.Context, _ layout.PlacementQuery) (p layout.Placement, err error) {
	filled(&p, c.fill)
	return p, nil
}

// cannedInstances answers calls on instances as canned does.
type cannedInstances struct {
	hosted
	fill int
}

func (h *cannedInstances) Stats(context.Context, string, string) (s agent.ManagerStats, err error) {
	filled(&s, h.fill)
	return s, nil
}

func (h *cannedInstances) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	reply, err := h.hosted.Signal(ctx, ref, signal)
	var data any
	switch signal.Type {
	case pod.SignalOpen:
		data = &pod.Opened{}
	case pod.SignalReconcile:
		data = &pod.Reconciled{}
	case pod.SignalMutate, pod.SignalStep:
		data = &pod.Progress{Report: &pod.Report{Status: "completed"}}
	case pod.SignalStopAll:
		data = &pod.Rested{}
	case pod.SignalFork:
		data = &pod.Forked{}
	default:
		return reply, err
	}
	filled(data, h.fill)
	fails := ref.Key == "failing"
	switch d := data.(type) {
	case *pod.Opened:
		d.Mutation = nil // there is none to finish
	case *pod.Reconciled:
		if !fails {
			d.Failures = nil
		}
	case *pod.Progress:
		if !fails {
			d.Report.Failures = nil
		}
	case *pod.Rested:
		if !fails {
			d.Failures = nil
		}
	}
	raw, encoding := json.Marshal(data, json.Deterministic(true))
	reply.Data = raw
	return reply, encoding
}

func (h *cannedInstances) Watch(context.Context, agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		for _, missed := range []bool{true, false} {
			event := agent.InstanceEvent{}
			filled(&event, h.fill)
			event.Missed = missed
			if !yield(event, nil) {
				return
			}
		}
	}
}

// needed sets the fields of an answer without values that a real one always has.
func needed(answer any) {
	switch a := answer.(type) {
	case *agent.Recalled:
		a.Request = agent.Recall{Agent: "a1", Within: agent.WithinAgent, Mode: agent.ModeRecent}
	case *agent.Manager:
		a.Handler.Kind = agent.HandlerDocument
	case *agent.ManagerResult:
		a.Manager.Handler.Kind = agent.HandlerDocument
	}
}

// known are the values of fields that the document restricts, by type and name.
var known = map[string]string{"string Within": agent.WithinAgent, "string Mode": agent.ModeRecent, "HandlerKind Kind": string(agent.HandlerGo), "MutationStatus Status": "completed"}

// filled sets each field that into points to; it changes nothing if fill is 0.
func filled(into any, fill int) {
	if fill == 0 {
		return
	}
	n := 100
	fillValue(reflect.ValueOf(into).Elem(), "", &n)
}

func fillValue(v reflect.Value, name string, n *int) {
	*n++
	switch {
	case v.Type() == reflect.TypeFor[agent.JSON](), v.Type() == reflect.TypeFor[jsontext.Value]():
		v.SetBytes([]byte(`{"z":1.0,"` + strings.ToLower(name) + `":"\u00e9<é>"}`))
		return
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(time.Duration(*n) * time.Second))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.ToLower(name))
		if value, ok := known[v.Type().Name()+" "+name]; ok {
			v.SetString(value)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n % 251))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), name, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(v.Index(0), name, n)
	case reflect.Array:
		for i := range v.Len() {
			fillValue(v.Index(i), name, n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillValue(key, name, n)
		fillValue(value, name, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				fillValue(v.Field(i), field.Name, n)
			}
		}
	default: // others are in no document
	}
}
