package main

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/api/document"
)

// What -o json and -o yaml show are the documents of the HTTP contract, so that
// scripts can go from one to the other, and those below, which only dormctl has.

// object returns JSON that stands even where there is none.
func object(j agent.JSON) jsontext.Value {
	if len(j) == 0 {
		return jsontext.Value("{}")
	}
	return jsontext.Value(j)
}

// deletedDoc says what became of one of the things to delete.
type deletedDoc struct {
	ID string `json:"id,omitzero"`
	document.Deleted
}

// entriesDoc is a page of a thread's entries.
type entriesDoc struct {
	ID string `json:"id"`
	document.EntryPage
}

// conversationDoc is a conversation with what people see of it.
type conversationDoc struct {
	document.SavedConversation
	Messages []document.Message `json:"messages"`
}
