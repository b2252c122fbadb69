package agent

import (
	"fmt"
	"slices"
	"strings"
)

// validate judges a recall as it stands once its defaults are filled in.
func (r *Recall) validate() error {
	if r.Session != "" {
		if err := ValidID("session_id", r.Session); err != nil {
			return err
		}
	}
	filled := r.Filled()
	if err := firstOf(
		ValidID("agent", r.Agent),
		among("mode", filled.Mode, RecallModes...),
		among("within", filled.Within, WithinAgent, WithinSession, WithinAll),
		validText("query", "recall_query_bytes_max", r.Query, RecallQueryBytesMax),
		ValidEmbedding("embedding", r.Embedding),
		filled.validMode(),
		r.Filter.validate(),
		validMetadata(r.Metadata),
	); err != nil {
		return err
	}
	return nil
}

// validMode holds the fields to what the mode needs, and to what it heeds.
func (r *Recall) validMode() error {
	byText := r.Mode == ModeText || r.Mode == ModeHybrid
	byVector := r.Mode == ModeVector || r.Mode == ModeHybrid
	switch {
	case (byText || r.Mode == ModeRecent) && strings.TrimSpace(r.Query) == "":
		return Invalid("query", "mode %s needs a query: say what to look for, or use mode %s", r.Mode, ModeQuery)
	case byVector && len(r.Embedding) == 0:
		return Invalid("embedding", "mode %s needs the embedding of what to look for", r.Mode)
	case !byVector && len(r.Embedding) > 0:
		return Invalid("embedding", "mode %s looks at no embedding: use mode %s or %s", r.Mode, ModeVector, ModeHybrid)
	case r.Mode == ModeQuery && r.Query != "":
		return Invalid("query", "mode %s goes by fields: put the text into text_contains, or use mode %s", ModeQuery, ModeText)
	case r.Mode != ModeQuery && r.Filter.Contains != "":
		return Invalid("text_contains", "text_contains goes with mode %s alone", ModeQuery)
	case r.Mode != ModeQuery && r.Ascending:
		return Invalid("order", "order goes with mode %s alone", ModeQuery)
	}
	return nil
}

func (f *MemoryFilter) validate() error {
	for _, list := range []struct {
		field string
		texts []string
	}{{"classes", f.Classes}, {"kinds", f.Kinds}, {"tags_any", f.TagsAny}, {"tags_all", f.TagsAll}} {
		if len(list.texts) > MemoryTagsMax {
			return TooLarge(list.field, "memory_tags_max", len(list.texts), MemoryTagsMax)
		}
		for i, text := range list.texts {
			if err := validName(fmt.Sprintf("%s[%d]", list.field, i), "kind_bytes_max", text, KindBytesMax); err != nil {
				return err
			}
		}
	}
	for i, class := range f.Classes {
		if err := validClass(fmt.Sprintf("classes[%d]", i), class); err != nil {
			return err
		}
	}
	if f.Since != nil && f.Until != nil && *f.Since > *f.Until {
		return Invalid("since", "since = %d must not be after until = %d", *f.Since, *f.Until)
	}
	return validText("text_contains", "recall_query_bytes_max", f.Contains, RecallQueryBytesMax)
}

// validMetadata judges what is handed back as it came.
func validMetadata(raw JSON) error {
	if isNull(raw) {
		return nil
	}
	return settleMetadata(&raw)
}

func among(field, text string, known ...string) error {
	if !slices.Contains(known, text) {
		return Invalid(field, "%s = %q must be one of %s", field, text, strings.Join(known, ", "))
	}
	return nil
}
