package rest

import (
	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func recall(c *web.Request, body *document.RecallBody) error {
	asked := body.ToRead()
	answers, err := c.ReadAll(asked)
	if err != nil {
		return err
	}
	if refusal := answers.Answers[0].Err; refusal != nil {
		return refusal
	}
	found, ok := answers.Answers[0].Found.(*agent.Recalled)
	if !ok {
		return agent.Errorf(agent.CodeInternal, "the answer to a recall is a %T", answers.Answers[0].Found)
	}
	out := document.RecalledOf(found)
	out.Index = answers.Index
	return c.Answer(web.Reply{Body: out})
}
