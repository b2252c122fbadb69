package kit

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/api/document"
)

// What -o json and -o yaml show are the documents of the HTTP contract, so that
// scripts can go from one to the other, and those below, which only dormctl has.

// Object returns JSON that stands even where there is none.
func Object(j agent.JSON) jsontext.Value {
	if len(j) == 0 {
		return jsontext.Value("{}")
	}
	return jsontext.Value(j)
}

// DeletedDoc says what became of one of the things to delete.
type DeletedDoc struct {
	ID string `json:"id,omitzero"`
	document.Deleted
}

// EntriesDoc is a page of a thread's entries.
type EntriesDoc struct {
	ID string `json:"id"`
	document.EntryPage
}

// ConversationDoc is a conversation with what people see of it.
type ConversationDoc struct {
	document.SavedConversation
	Messages []document.Message `json:"messages"`
}
