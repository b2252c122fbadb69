package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

func answeredToProto(d *agent.Decided) *apipb.Answered {
	if d.Err != nil {
		return &apipb.Answered{Error: ops.ErrorToProto(d.Err)}
	}
	return &apipb.Answered{Result: ResultToProto(&d.Result)}
}

func answeredFromProto(p *apipb.Answered) (*agent.Decided, error) {
	if e := p.GetError(); e != nil {
		return &agent.Decided{Err: ops.ErrorFromProto(e)}, nil
	}
	result, err := ResultFromProto(p.GetResult())
	return &agent.Decided{Result: result}, err
}

// managerAnswerFromProto converts the answers to reads of managers and requests.
func managerAnswerFromProto(a *apipb.Answer) (agent.Found, error) {
	switch f := a.GetAnswer().(type) {
	case *apipb.Answer_Manager:
		return ops.ManagerFromProto(f.Manager)
	case *apipb.Answer_Managers:
		items, err := eachValid(f.Managers.GetItems(), ops.ManagerFromProto)
		return &agent.ManagerList{Items: items, Next: f.Managers.GetNext()}, err
	case *apipb.Answer_Answered:
		return answeredFromProto(f.Answered)
	default:
		return sessionAnswerFromProto(a)
	}
}

// managerReadFromProto returns nil if there is no read.
func managerReadFromProto(read *apipb.Read) agent.Read {
	switch r := read.GetRead().(type) {
	case *apipb.Read_GetManager:
		return &agent.GetManager{Name: r.GetManager.GetName()}
	case *apipb.Read_ListManagers:
		return &agent.ListManagers{Page: pageFromProto(r.ListManagers)}
	case *apipb.Read_GetAnswer:
		return &agent.GetAnswer{Client: r.GetAnswer.GetClient(), Seq: r.GetAnswer.GetSeq()}
	default:
		return sessionReadFromProto(read)
	}
}
