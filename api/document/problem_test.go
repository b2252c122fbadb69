package document

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dormouse/agent"
)

// meant are, for each code, the status and the members besides those of every problem, of an error that says all.
var meant = map[agent.Code]struct {
	status  int
	members string
}{
	"already_claimed":                      {409, "epoch holder expires_at"},
	"already_exists":                       {409, "revision"},
	"approval_expired":                     {409, "expires_at state"},
	"approval_interrupt_mismatch":          {409, "state"},
	"checkpoint_session_mismatch":          {409, ""},
	"compacted":                            {410, "floor"},
	"conflict":                             {409, "rev head"},
	"corrupt":                              {500, ""},
	"deleted":                              {410, "incarnation"},
	"duplicate_entry":                      {409, "seq"},
	"fenced":                               {409, "epoch holder"},
	"forbidden":                            {403, ""},
	"handler_failed":                       {502, "reason"},
	"idempotency_mismatch":                 {422, ""},
	"internal":                             {500, ""},
	"invalid":                              {400, "field"},
	"invalid_conversation_commit_revision": {409, "revision"},
	"method_not_allowed":                   {405, ""},
	"missing_session_snapshot":             {409, "state"},
	"missing_thread":                       {409, "rev head thread"},
	"mutation_failed":                      {409, "reason"},
	"mutation_in_progress":                 {409, "reason"},
	"not_found":                            {404, ""},
	"not_owner":                            {503, ""},
	"overloaded":                           {429, "retry_after_ms"},
	"quota_exceeded":                       {403, "field limit"},
	"read_only":                            {503, ""},
	"reconcile_failed":                     {409, "reason"},
	"request_expired":                      {409, ""},
	"review_already_decided":               {409, "holder state"},
	"revision_mismatch":                    {409, "revision"},
	"session_already_running":              {409, "epoch holder expires_at state"},
	"session_commit_mismatch":              {409, ""},
	"session_lease_active":                 {409, "epoch holder expires_at state"},
	"session_lease_expired":                {409, "epoch holder expires_at state"},
	"session_lease_required":               {409, "revision epoch holder"},
	"session_not_recoverable":              {409, "epoch holder expires_at state"},
	"session_not_resumable":                {409, "epoch holder expires_at state"},
	"session_queue_empty":                  {409, "state"},
	"stale_conversation_revision":          {409, "revision"},
	"stale_session_lease":                  {409, "epoch holder expires_at state"},
	"stale_session_revision":               {409, "revision"},
	"thaw_failed":                          {409, "reason"},
	"thread_mismatch":                      {409, "rev head thread"},
	"thread_rev_regression":                {409, "rev head"},
	"too_large":                            {413, "field limit"},
	"unauthenticated":                      {401, ""},
	"unavailable":                          {503, "reason"},
	"unknown":                              {504, ""},
	"unsupported_media":                    {415, ""},
	"unsupported_session_schema_version":   {400, "field"},
}

func TestTheProblemOfEachCodeHasItsMembers(t *testing.T) {
	all := maps.Clone(meanings)
	maps.Copy(all, sessionMeanings)
	of := []string{"type", "title", "status", "detail", "code"}
	for _, code := range slices.Sorted(maps.Keys(all)) {
		var e agent.Error
		n := 0
		fill(reflect.ValueOf(&e).Elem(), &n)
		e.Code = code
		p := reflect.ValueOf(ProblemOf(&e))
		var members []string
		for i := range p.NumField() {
			name, _, _ := strings.Cut(p.Type().Field(i).Tag.Get("json"), ",")
			if has := !p.Field(i).IsZero(); slices.Contains(of, name) != has {
				members = append(members, name)
			}
		}
		got := meant[code]
		if got.status, got.members = int(p.FieldByName("Status").Int()), strings.Join(members, " "); got != meant[code] {
			t.Errorf("%q: {%d, %q},", code, got.status, got.members)
		}
	}
	for code := range meant {
		if _, ok := all[code]; !ok {
			t.Errorf("%s has no meaning", code)
		}
	}
}

// An error without a text has that of its code.
func TestAProblemHasAText(t *testing.T) {
	for code, m := range meanings {
		if p := ProblemOf(&agent.Error{Code: code}); p.Detail != m.title || p.Detail == "" {
			t.Errorf("%s: %q", code, p.Detail)
		}
	}
}
