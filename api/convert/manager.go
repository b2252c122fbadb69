package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

func managersToProto(l *agent.ManagerList) *apipb.ManagerList {
	out := &apipb.ManagerList{Next: l.Next, Items: make([]*oppb.Manager, len(l.Items))}
	for i := range l.Items {
		out.Items[i] = ops.ManagerToProto(&l.Items[i])
	}
	return out
}

func managersFromProto(p *apipb.ManagerList) (*agent.ManagerList, error) {
	l := &agent.ManagerList{Next: p.GetNext()}
	for _, item := range p.GetItems() {
		m, err := ops.ManagerFromProto(item)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, *m)
	}
	return l, nil
}

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
		return managersFromProto(f.Managers)
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
