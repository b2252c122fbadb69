package agent

import "context"

// Await makes a commit and waits for its outcome: what Commit is over Submit.
// When ctx ends first, the outcome is unknown.
func Await(ctx context.Context, s Submitter, c Commit) (Result, error) {
	type outcome struct {
		result Result
		err    error
	}
	came := make(chan outcome, 1)
	s.Submit(ctx, c, func(result Result, err error) { came <- outcome{result, err} })
	select {
	case o := <-came:
		return o.result, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-came: // both were ready: the truth is better than the deadline
		return o.result, o.err
	default:
		return Result{}, Errorf(CodeUnknown, "the call ended before the commit's outcome was known (%v); retry with the same request id", context.Cause(ctx))
	}
}
