package audit

import (
	"cmp"
	"context"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"dormouse/access"
	"dormouse/agent"
)

// A rule says how an op is recorded.
type rule struct {
	kind  Kind // "" means not at all
	waits bool // the record is on disk before the op is made, and the outcome before its caller learns it
}

// shortTTL is the time to live below which SetTTL is recorded as a delete.
const shortTTL = time.Hour

// ruleOf returns the rule of an op, and the ids that name its object.
func ruleOf(op agent.Op) (rule, []string) {
	switch op := op.(type) {
	case *agent.DeleteScope:
		return rule{KindDelete, true}, nil
	case *agent.EraseAgent:
		return rule{KindDelete, true}, []string{op.Agent}
	case *agent.DeletePrefix:
		return rule{KindDelete, true}, []string{string(op.Kind), op.Prefix}
	case *agent.PutScope, *agent.IndexMetadata:
		return rule{KindPolicy, true}, nil
	case *agent.PutToken:
		return rule{KindToken, true}, []string{op.Hash.TokenID(), op.Principal}
	case *agent.RevokeToken:
		return rule{KindToken, true}, []string{op.ID}
	case *agent.DecideReview:
		return rule{KindDecision, true}, []string{op.Review, string(op.Decision)}
	case *agent.ImportScope:
		if op.Scope == nil && !op.Finish {
			return rule{}, nil // a part between
		}
		return rule{KindBackup, true}, []string{op.ID}
	default:
		return deleteOf(op)
	}
}

// deleteOf is ruleOf for deletes of data, of which there may be many.
func deleteOf(op agent.Op) (rule, []string) {
	delete := rule{kind: KindDelete}
	switch op := op.(type) {
	case *agent.DeleteValue:
		if op.IfRevision != nil && *op.IfRevision == 0 {
			return rule{}, nil // only a condition: it applies if there is no value
		}
		return delete, []string{op.Key}
	case *agent.DeleteCheckpoint:
		return delete, []string{op.Key}
	case *agent.DeleteThread:
		return delete, []string{op.Thread}
	case *agent.CompactThread:
		return delete, []string{op.Thread, "below " + strconv.FormatUint(op.BeforeSeq, 10)}
	case *agent.DeleteMemory:
		return delete, []string{op.Agent, op.ID}
	case *agent.DeleteConversation:
		return delete, []string{op.ID}
	case *agent.DeleteSession:
		return delete, []string{op.Session}
	case *agent.DeleteTimer:
		return delete, []string{op.Manager, op.Key, op.ID}
	case *agent.DeleteManager:
		return delete, []string{op.Name}
	case *agent.SetTTL:
		if op.TTL <= 0 || op.TTL >= shortTTL {
			return rule{}, nil
		}
		return delete, expiring(op)
	default:
		return rule{}, nil
	}
}

// expiring returns the kind of what a SetTTL is about, its id, and the time to live.
func expiring(op *agent.SetTTL) []string {
	ttl := "ttl " + op.TTL.String()
	switch {
	case op.Thread != "":
		return []string{"thread", op.Thread, ttl}
	case op.Session != "":
		return []string{"session", op.Session, ttl}
	default:
		return []string{"conversation", op.Conversation, ttl}
	}
}

// recordsOf returns the records of a commit; nil if it has none.
func recordsOf(ctx context.Context, c *agent.Commit) (recs []*Record) {
	for _, op := range c.Ops {
		rule, object := ruleOf(op)
		if rule.kind == "" {
			continue
		}
		rec := opRecord(ctx, rule.kind, c.Scope, op)
		rec.Object = object
		if rule.waits {
			rec.Phase = PhaseBegin
		}
		recs = append(recs, &rec)
	}
	return recs
}

func opRecord(ctx context.Context, kind Kind, scope string, op agent.Op) Record {
	rec := of(ctx, kind, nameOf(op))
	rec.Verb = verbs(access.OfOp(op))
	rec.Scope = cmp.Or(scope, agent.DefaultScope)
	return rec
}

func verbs(all []agent.Verb) string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = string(v)
	}
	return strings.Join(texts, ",")
}

var humps = regexp.MustCompile(`([a-z])([A-Z])`)

// nameOf returns the name of an op or a read in the spelling of the HTTP API.
func nameOf(one any) string {
	t := reflect.TypeOf(one)
	if t == nil {
		return ""
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.ToLower(humps.ReplaceAllString(t.Name(), "${1}_${2}"))
}
