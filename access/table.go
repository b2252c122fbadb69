package access

import (
	"fmt"
	"reflect"
	"slices"

	"dormouse/agent"
)

// need is the verbs of a call: all of them are needed.
type need []agent.Verb

var (
	toRead   = need{agent.VerbRead}
	toWrite  = need{agent.VerbWrite}
	toFork   = need{agent.VerbWrite, agent.VerbRead} // the copy and the answer have what the source has
	toRun    = need{agent.VerbRun}
	toDecide = need{agent.VerbDecide}
	toAdmin  = need{agent.VerbAdmin}
	toErase  = need{agent.VerbAdmin, agent.VerbRead} // the call waits for the receipt
	toMakeUp = need{agent.VerbRun, agent.VerbRead}   // the call reads the pod's manifest first
	toImport = need{agent.VerbAdmin, agent.VerbScopesPolicy}
	toPolicy = need{agent.VerbScopesPolicy}
	toTokens = need{agent.VerbTokensChange}

	toSeeCluster    = need{agent.VerbClusterRead}
	toChangeCluster = need{agent.VerbClusterChange}
	toBackUp        = need{agent.VerbClusterBackup}

	toEnter = need{} // any principal: the answer has only what the principal may see

	toSetSessionTTL   = need{agent.VerbWrite, agent.VerbRun} // the answer has the lease, and a short ttl ends the session
	toForkWithSession = need{agent.VerbWrite, agent.VerbRead, agent.VerbRun}
)

// typed is the need of the ops or reads of a type.
type typed struct {
	of   reflect.Type
	need need
}

func of[T any](n need) typed { return typed{reflect.TypeFor[T](), n} }

func table(all ...typed) map[reflect.Type]need {
	out := map[reflect.Type]need{}
	for _, one := range all {
		out[one.of] = one.need
	}
	return out
}

// opNeeds is the need of each op, unless ofSession has another one.
var opNeeds = table(
	of[*agent.PutValue](toWrite), of[*agent.DeleteValue](toWrite), of[*agent.ReviseValue](toWrite),
	of[*agent.PutCheckpoint](toWrite), of[*agent.PatchCheckpoint](toWrite), of[*agent.DeleteCheckpoint](toWrite),
	of[*agent.AppendThread](toWrite), of[*agent.HibernateThread](toWrite), of[*agent.DeleteThread](toWrite),
	of[*agent.CompactThread](toWrite), of[*agent.ForkThread](toFork),
	of[*agent.WriteMemory](toWrite), of[*agent.DeleteMemory](toWrite),
	of[*agent.SaveConversation](toWrite), of[*agent.SetInterrupted](toWrite), of[*agent.PendMessage](toWrite),
	of[*agent.SaveMessages](toWrite), of[*agent.UpdateMessage](toWrite), of[*agent.DeleteConversation](toWrite),
	of[*agent.ForkAgent](toFork), of[*agent.SetTTL](toWrite), of[*agent.DeletePrefix](toWrite),

	of[*agent.TakeClaim](toRun), of[*agent.RenewClaim](toRun), of[*agent.ReleaseClaim](toRun),
	of[*agent.PutSession](toRun), of[*agent.ClaimSession](toRun), of[*agent.ResumeSession](toRun), of[*agent.RecoverSession](toRun),
	of[*agent.CheckpointSession](toRun), of[*agent.CommitSession](toRun), of[*agent.RenewSession](toRun),
	of[*agent.CancelSession](toRun), of[*agent.ForkSession](toRun), of[*agent.DeleteSession](toRun),
	of[*agent.PutTimer](toRun), of[*agent.DeleteTimer](toRun), of[*agent.AckTimer](toRun), of[*agent.FailTimer](toRun),
	of[*agent.PatchCron](toRun), of[*agent.PutManager](toRun), of[*agent.DeleteManager](toRun), of[*agent.AnswerSignal](toRun),

	of[*agent.DecideReview](toDecide),
	of[*agent.EraseAgent](toAdmin), of[*agent.DeleteScope](toAdmin), of[*agent.ImportScope](toImport),
	of[*agent.PutScope](toPolicy), of[*agent.IndexMetadata](toPolicy),
	of[*agent.PutToken](toTokens), of[*agent.RevokeToken](toTokens),
)

// readNeeds is the need of each read.
var readNeeds = table(
	of[*agent.GetValue](toRead), of[*agent.ListValues](toRead),
	of[*agent.GetCheckpoint](toRead), of[*agent.ListCheckpoints](toRead), of[*agent.CheckpointHistory](toRead), of[*agent.Thaw](toRead),
	of[*agent.GetThread](toRead), of[*agent.ListThreads](toRead), of[*agent.LoadEntries](toRead), of[*agent.GetEntry](toRead), of[*agent.VerifyThread](toRead),
	of[*agent.GetMemory](toRead), of[*agent.ListMemories](toRead), of[*agent.Recall](toRead),
	of[*agent.GetClaim](toRead), of[*agent.ListClaims](toRead),
	of[*agent.GetSession](toRead), of[*agent.ListSessions](toRead), of[*agent.GetReview](toRead), of[*agent.ListReviews](toRead),
	of[*agent.GetConversation](toRead), of[*agent.ListConversations](toRead), of[*agent.ListMessages](toRead),
	of[*agent.GetTimer](toRead), of[*agent.ListTimers](toRead),
	of[*agent.GetManager](toRead), of[*agent.ListManagers](toRead), of[*agent.GetAnswer](toRead), of[*agent.GetErasure](toRead),
	of[*agent.GetDeletion](toRead), of[*agent.ListDeletions](toRead),
	of[*agent.GetScope](toRead),
	of[*agent.ListScopes](toEnter), // lists the scopes that the principal sees
	of[*agent.GetToken](toTokens), of[*agent.ListTokens](toTokens),
)

// ofSession returns the need of an op that is about other things too, if it names a session; otherwise nil.
func ofSession(op agent.Op) need {
	switch op := op.(type) {
	case *agent.SetTTL:
		if op != nil && op.Session != "" {
			return toSetSessionTTL
		}
	case *agent.ForkAgent:
		if op != nil && op.Session != "" {
			return toForkWithSession
		}
	}
	return nil
}

// needOfOp returns the need of an op. An op that the table lacks is forbidden.
func needOfOp(op agent.Op) (need, *agent.Error) {
	if n := ofSession(op); n != nil {
		return n, nil
	}
	return needOf(opNeeds, op)
}

// OfOp returns the verbs that an op needs; nil if the table lacks it.
func OfOp(op agent.Op) []agent.Verb {
	n, _ := needOfOp(op)
	return n
}

// OfRead returns the verbs that a read needs.
func OfRead(read agent.Read) []agent.Verb { return readNeeds[reflect.TypeOf(read)] }

// OfScope reports whether an op or a read is about the scope of its request, so that it counts for the
// rates of the scope. A caller without any verb in the scope can make the others: ListScopes, and those
// that need only cluster verbs, such as the ones on tokens and policies.
func OfScope(one any) bool {
	n, ok := opNeeds[reflect.TypeOf(one)]
	if !ok {
		n, ok = readNeeds[reflect.TypeOf(one)]
	}
	return !ok || slices.ContainsFunc(n, func(v agent.Verb) bool { return !v.OfCluster() })
}

// needOf returns the need of an op or a read. What the table lacks is forbidden.
func needOf(t map[reflect.Type]need, one any) (need, *agent.Error) {
	n, ok := t[reflect.TypeOf(one)]
	if !ok {
		return nil, agent.Errorf(agent.CodeForbidden, "this node has no rule for %s", name(one))
	}
	return n, nil
}

func name(one any) string {
	if t := reflect.TypeOf(one); t != nil && t.Kind() == reflect.Pointer {
		return t.Elem().Name()
	}
	return fmt.Sprintf("%T", one)
}
