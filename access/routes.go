package access

import (
	"cmp"
	"strings"

	"dormouse/agent"
)

// open is the need of calls that anybody may make.
var open need

// routeNeeds is the need of each HTTP operation. The server checks it before it reads the body;
// Guard then checks each op and read.
var routeNeeds = routes(map[string]need{
	"get-livez get-readyz get-openapi": open,

	"thaw-agent get-erasure watch-changes get-checkpoint list-checkpoints list-checkpoint-history get-claim watch-claim list-claims": toRead,
	"get-conversation list-conversations list-messages load-entries get-entry get-entry-bytes read-file file-metadata list-files":    toRead,
	"get-instance manager-stats watch-instances watch-instance get-manager list-managers get-memory list-memory recall":              toRead,
	"look-at-pod list-pod-nodes get-pod-node replay-session list-reviews get-review get-scope get-session list-sessions":             toRead,
	"list-threads get-thread verify-thread watch-thread get-timer list-timers list-all-timers get-value list-values":                 toRead,
	"get-deletion list-deletions": toRead,

	"hibernate-agent set-thread-ttl set-conversation-ttl put-checkpoint patch-checkpoint":                               toWrite,
	"delete-checkpoint save-conversation delete-conversation set-interrupted pend-message save-messages":                toWrite,
	"update-message append-entries append-bytes write-file describe-file move-file delete-file put-memory write-memory": toWrite,
	"delete-memory create-thread delete-thread compact-thread put-value delete-value":                                   toWrite,
	"delete-values delete-checkpoints delete-threads":                                                                   toWrite,
	"fork-agent fork-thread": toFork,
	"set-session-ttl":        toSetSessionTTL,

	"patch-checkpoint-cron take-claim renew-claim release-claim start-instance stop-instance hibernate-instance":    toRun,
	"attach-instance detach-instance touch-instance signal-instance patch-instance-cron put-manager delete-manager": toRun,
	"put-timer delete-timer": toRun,
	"create-session put-session delete-session fork-session claim-session claim_resume-session recover-session": toRun,
	"checkpoint-session commit-session renew-session cancel-session":                                            toRun,

	"get-or-make-pod ensure-pod-node reconcile-pod mutate-pod hibernate-pod fork-pod": toMakeUp,

	"decide-review":            toDecide,
	"erase-agent":              toErase,
	"delete-scope":             toAdmin,
	"put-scope":                toPolicy,
	"put-default-policy":       toPolicy,
	"get-default-policy":       toRead,
	"commit read list-scopes":  toEnter,
	"whoami":                   toEnter,
	"get-cluster get-metrics":  toSeeCluster,
	"get-placement":            toSeeCluster,
	"explain-placement":        toSeeCluster,
	"map-placement":            toSeeCluster,
	"count-instances":          toSeeCluster,
	"get-history":              toSeeCluster,
	"leave-node transfer-node": toChangeCluster,
	"get-settings get-log":     toChangeCluster,
	"get-profile":              toChangeCluster,
	"get-state-sum":            toChangeCluster,
	"list-slow-calls":          toChangeCluster,
	"list-audit-records":       toChangeCluster,
	"promote-node demote-node": toChangeCluster,
	"drain-node resume-node":   toChangeCluster,
	"pin-partition":            toChangeCluster,
	"unpin-partition":          toChangeCluster,
	"create-join-token":        toChangeCluster,
	"get-backup":               toBackUp,
	"list-backups take-backup": toBackUp,
	"create-token":             toTokens,
	"get-token list-tokens":    toTokens,
	"revoke-token":             toTokens,
})

// methodNeeds is the need of each gRPC method. What the messages of a method need depends on their
// content, which Guard checks.
var methodNeeds = methods(map[string]need{
	"/dormouse.api.v1.Store/ Exchange Commit Read Watch":                                             toEnter,
	"/dormouse.api.v1.Instances/ Start Lookup Stop Hibernate Attach Detach Touch Signal Stats Watch": toEnter,
	"/dormouse.api.v1.Cluster/ Status Placement":                                                     toSeeCluster,
	"/dormouse.api.v1.Cluster/ Leave Transfer Promote Demote Drain Resume PinPartition JoinToken":    toChangeCluster,
	"/dormouse.api.v1.Cluster/ Backup Backups TakeBackup":                                            toBackUp,
	"/dormouse.api.v1.Cluster/ ExportScope WhoAmI":                                                   toEnter,
	"/grpc.health.v1.Health/ Check List Watch":                                                       open,
	"/grpc.reflection.v1.ServerReflection/ ServerReflectionInfo":                                     open,
	"/grpc.reflection.v1alpha.ServerReflection/ ServerReflectionInfo":                                open,
})

// routes spreads a table whose keys list several names.
func routes(grouped map[string]need) map[string]need {
	out := map[string]need{}
	for names, n := range grouped {
		for _, name := range strings.Fields(names) {
			out[name] = n
		}
	}
	return out
}

// methods is routes for keys that begin with the service.
func methods(grouped map[string]need) map[string]need {
	out := map[string]need{}
	for names, n := range grouped {
		service, rest, _ := strings.Cut(names, " ")
		for _, name := range strings.Fields(rest) {
			out[service+name] = n
		}
	}
	return out
}

// Rule is the need of an HTTP operation or a gRPC method.
type Rule struct {
	known bool
	need  need
}

// OfRoute returns the rule of an HTTP operation.
func OfRoute(operation string) Rule { return ruleOf(routeNeeds, operation) }

// OfMethod returns the rule of a gRPC method, such as /dormouse.api.v1.Store/Read.
func OfMethod(method string) Rule { return ruleOf(methodNeeds, method) }

func ruleOf(table map[string]need, name string) Rule {
	n, ok := table[name]
	return Rule{known: ok, need: n}
}

// Known reports whether the table has the call. A call without a rule is forbidden.
func (r Rule) Known() bool { return r.known }

// Open reports whether the call needs no principal.
func (r Rule) Open() bool { return r.known && r.need == nil }

// Verbs returns the verbs that the call needs.
func (r Rule) Verbs() []agent.Verb { return r.need }

// Check returns an error unless p may make the call, in the scope, and its credentials are valid now.
func (r Rule) Check(p *Principal, scope string) error {
	switch {
	case r.Open():
		return nil
	case p == nil:
		return unauthenticated()
	case !r.known:
		return agent.Errorf(agent.CodeForbidden, "this node has no rule for this call")
	}
	if err := p.current(); err != nil {
		return err
	}
	if refusal := p.check(r.need, cmp.Or(scope, agent.DefaultScope)); refusal != nil {
		return refusal
	}
	return nil
}

func unauthenticated() *agent.Error {
	return agent.Errorf(agent.CodeUnauthenticated, "this call needs a token: send it as Authorization: Bearer TOKEN")
}
