package httpclient

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"dormouse/agent"
)

// A form is how documents write a value of package agent: a struct is an object, whose members
// have the names of the fields in snake case, unless renamed lists another name. A duration is
// a number of milliseconds under a name that ends in _ms. Fields with their zero value are left
// out.

// inline as the name of a field means that the members of its struct are members of the object.
const inline = "+"

// renamed are the fields whose name in a document is not theirs in snake case.
var renamed = map[reflect.Type]map[string]string{
	reflect.TypeFor[agent.PutSession]():        {"Agent": "agent_id", "Failure": "error"},
	reflect.TypeFor[agent.ClaimSession]():      {"Owner": "owner_id"},
	reflect.TypeFor[agent.ResumeSession]():     {"Owner": "owner_id"},
	reflect.TypeFor[agent.RecoverSession]():    {"Owner": "owner_id"},
	reflect.TypeFor[agent.CheckpointSession](): {"Owner": "owner_id"},
	reflect.TypeFor[agent.CommitSession]():     {"Owner": "owner_id", "Agent": "agent_id", "Failure": "error"},
	reflect.TypeFor[agent.RenewSession]():      {"Owner": "owner_id"},
	reflect.TypeFor[agent.CancelSession]():     {"Owner": "owner_id"},
	reflect.TypeFor[agent.ForkSession]():       {"NewSession": "id", "Snapshot": "snapshot_id"},
	reflect.TypeFor[agent.ForkThread]():        {"NewThread": "id"},
	reflect.TypeFor[agent.Session]():           {"Failure": "error"},
	reflect.TypeFor[agent.SessionRow]():        {"Agent": "agent_id"},
	reflect.TypeFor[agent.Lease]():             {"Owner": "owner_id"},
	reflect.TypeFor[agent.Lineage]():           {"Session": "session_id", "Snapshot": "snapshot_id"},
	reflect.TypeFor[agent.SessionRequest]():    {"Owner": "owner_id"},
	reflect.TypeFor[agent.SessionSnapshot]():   {"ID": "snapshot_id", "Agent": "agent_id"},
	reflect.TypeFor[agent.ListSessions]():      {"Owner": "owner_id", "Agent": "agent_id"},
	reflect.TypeFor[agent.Review]():            {"Session": "session_id"},
	reflect.TypeFor[agent.ClaimResult]():       {"Claim": inline},
	reflect.TypeFor[agent.ScopeResult]():       {"Scope": inline},
	reflect.TypeFor[agent.ReviewResult]():      {"Review": inline},
	reflect.TypeFor[agent.WriteMemory]():       {"Agent": "agent_id", "Session": "session_id"},
	reflect.TypeFor[agent.DeleteMemory]():      {"Agent": "agent_id"},
	reflect.TypeFor[agent.MemoryResult]():      {"Agent": "agent_id"},
	reflect.TypeFor[agent.Memory]():            {"Agent": "agent_id", "Session": "session_id"},
	reflect.TypeFor[agent.GetMemory]():         {"Agent": "agent_id"},
	reflect.TypeFor[agent.ListMemories]():      {"Agent": "agent_id"},
	reflect.TypeFor[agent.Recall]():            {"Agent": "agent_id", "Session": "session_id", "Filter": inline},
	reflect.TypeFor[agent.MemoryFilter]():      {"Contains": "text_contains"},
	reflect.TypeFor[agent.RecalledMemory]():    {"Memory": inline},
	reflect.TypeFor[agent.PutManager]():        {"Manager": inline},
	reflect.TypeFor[agent.ManagerResult]():     {"Manager": inline},
	reflect.TypeFor[agent.PutTimer]():          {"Timer": inline},
	reflect.TypeFor[agent.TimerResult]():       {"Timer": inline},
	reflect.TypeFor[agent.DeleteTimer]():       {"ID": "timer"},
	reflect.TypeFor[agent.GetTimer]():          {"ID": "timer"},
	reflect.TypeFor[agent.TokenResult]():       {"Token": inline},
	reflect.TypeFor[agent.ConversationRef]():   {"ID": "conversation_id", "Agent": "agent_id", "Owner": "owner_id"},
	reflect.TypeFor[agent.ConversationRow]():   {"Agent": "agent_id", "Owner": "owner_id"},
	reflect.TypeFor[agent.ListConversations](): {"Agent": "agent_id", "Owner": "owner_id"},
	reflect.TypeFor[agent.SaveConversation]():  {"Revision": "if_revision"},
	reflect.TypeFor[agent.UpdateMessage]():     {"Message": "message_id"},
	reflect.TypeFor[agent.ForkPoint]():         {"Thread": "id"},
	reflect.TypeFor[agent.Instance]():          {"Thread": "-", "Rev": "-"}, // members of an object of their own
	reflect.TypeFor[agent.InstanceRef]():       {"Scope": "-"},
}

// memberOf returns the name of the member that a field is; inline, and "-" if it is none.
func memberOf(of reflect.Type, f reflect.StructField) string {
	if name, is := renamed[of][f.Name]; is {
		return name
	}
	if f.Anonymous {
		return inline
	}
	name := snake(f.Name)
	if f.Type == reflect.TypeFor[time.Duration]() {
		name += "_ms"
	}
	return name
}

// snake returns a field's name in snake case: "LeaseID" is "lease_id".
func snake(name string) string {
	var out strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		begins := i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// formed returns the members of a struct.
func formed(value any) members {
	m := members{}
	form(reflect.Indirect(reflect.ValueOf(value)), m)
	return m
}

func form(value reflect.Value, into members) {
	of := value.Type()
	for i := range of.NumField() {
		field, name := value.Field(i), memberOf(of, of.Field(i))
		switch {
		case name == "-" || field.IsZero():
		case name == inline:
			form(field, into)
		default:
			into[name] = formOf(field)
		}
	}
}

// formOf returns what encodes a value.
func formOf(value reflect.Value) any {
	switch v := value.Interface().(type) {
	case agent.JSON:
		return json.RawMessage(v)
	case []byte:
		return v
	case time.Duration:
		return v.Milliseconds()
	}
	switch value.Kind() {
	case reflect.Pointer:
		return formOf(value.Elem())
	case reflect.Struct:
		m := members{}
		form(value, m)
		return m
	case reflect.Slice:
		all := make([]any, value.Len())
		for i := range all {
			all[i] = formOf(value.Index(i))
		}
		return all
	default:
		return value.Interface()
	}
}

// unform sets the fields of the struct that into points to from an object's members. It ignores
// members without a field, since answers may have more than a client knows.
func unform(raw json.RawMessage, into any) error {
	return fill(raw, reflect.ValueOf(into).Elem())
}

func fill(raw json.RawMessage, into reflect.Value) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	of := into.Type()
	for i := range of.NumField() {
		name := memberOf(of, of.Field(i))
		if name == inline {
			if err := fill(raw, into.Field(i)); err != nil {
				return err
			}
			continue
		}
		member, there := all[name]
		if !there || string(member) == "null" {
			continue
		}
		if err := parse(member, into.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// parse sets a value from its form.
func parse(raw json.RawMessage, into reflect.Value) error {
	switch at := into.Addr().Interface().(type) {
	case *agent.JSON:
		*at = agent.JSON(raw)
		return nil
	case *[]byte:
		return json.Unmarshal(raw, at)
	case *time.Duration:
		var ms int64
		err := json.Unmarshal(raw, &ms)
		*at = time.Duration(ms) * time.Millisecond
		return err
	case *agent.Head:
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		var err error
		*at, err = agent.ParseHead(text)
		return err
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return parse(raw, into.Elem())
	case reflect.Struct:
		return fill(raw, into)
	case reflect.Slice:
		return parseAll(raw, into)
	default:
		return json.Unmarshal(raw, into.Addr().Interface())
	}
}

func parseAll(raw json.RawMessage, into reflect.Value) error {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	into.Set(reflect.MakeSlice(into.Type(), len(all), len(all)))
	for i, one := range all {
		if err := parse(one, into.Index(i)); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return nil
}
