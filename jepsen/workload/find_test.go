package workload

import (
	"testing"

	"dormouse/agent"
)

func TestAnswersAreFoundInTheirPlaces(t *testing.T) {
	absent := agent.Answer{Err: &agent.Error{Code: agent.CodeNotFound}}
	claim := agent.Answer{Found: &agent.Claim{Epoch: 16}}
	found, err := foundIn(agent.Answers{Answers: []agent.Answer{absent, claim}}, 2)
	if err != nil || len(found) != 2 || found[0] != nil || found[1] != claim.Found {
		t.Errorf("found %v, %v", found, err)
	}
	for name, c := range map[string]struct {
		answers []agent.Answer
		want    agent.Code
	}{
		"one too few":     {[]agent.Answer{claim}, agent.CodeInternal},
		"one too many":    {[]agent.Answer{claim, claim, claim}, agent.CodeInternal},
		"one without any": {[]agent.Answer{claim, {}}, agent.CodeInternal},
		"one refused":     {[]agent.Answer{claim, {Err: &agent.Error{Code: agent.CodeUnavailable}}}, agent.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			if found, err := foundIn(agent.Answers{Answers: c.answers}, 2); agent.CodeOf(err) != c.want || found != nil {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}
