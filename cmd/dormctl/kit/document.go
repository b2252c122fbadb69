package kit

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/api/document"
)

// With -o json and -o yaml dormctl prints the documents of the HTTP API, so that
// scripts can use both, and the documents below, which only dormctl has.

// Object returns j, or {} if j is empty.
func Object(j agent.JSON) jsontext.Value {
	if len(j) == 0 {
		return jsontext.Value("{}")
	}
	return jsontext.Value(j)
}

// DeletedDoc is the result of one delete.
type DeletedDoc struct {
	ID string `json:"id,omitzero"`
	document.Deleted
}

// EntriesDoc is a page of a thread's entries.
type EntriesDoc struct {
	ID string `json:"id"`
	document.EntryPage
}

// ConversationDoc is a conversation with its visible messages.
type ConversationDoc struct {
	document.SavedConversation
	Messages []document.Message `json:"messages"`
}
