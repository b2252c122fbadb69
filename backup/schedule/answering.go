package schedule

import (
	"context"
	"fmt"
	"io"
	"time"

	"dormouse/backup/blob"
)

// answerMax is how long the destination may take to list objects, to remove one, to open one, and for
// each part that it returns of it.
const answerMax = 5 * time.Minute

// errSilent means that the destination did not answer within answerMax.
var errSilent = fmt.Errorf("the destination has not answered for %v", answerMax)

// answering is a destination whose calls end with errSilent if it does not answer. Those to Put do not:
// how long an object may take depends on its size.
type answering struct{ blob.Store }

func (a answering) List(ctx context.Context, prefix string) ([]blob.Object, error) {
	ctx, end := context.WithTimeoutCause(ctx, answerMax, errSilent)
	defer end()
	all, err := a.Store.List(ctx, prefix)
	return all, because(ctx, err)
}

func (a answering) Delete(ctx context.Context, name string) error {
	ctx, end := context.WithTimeoutCause(ctx, answerMax, errSilent)
	defer end()
	return because(ctx, a.Store.Delete(ctx, name))
}

func (a answering) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	o := &object{ctx: ctx, cancel: cancel, silent: time.AfterFunc(answerMax, func() { cancel(errSilent) })}
	content, err := a.Store.Get(ctx, name)
	o.silent.Stop()
	if err != nil {
		defer cancel(nil)
		return nil, because(ctx, err)
	}
	o.content = content
	return o, nil
}

// object is an object that is read. Its timer runs only while the destination is asked for more.
type object struct {
	ctx     context.Context //nolint:containedctx // of the reads
	cancel  context.CancelCauseFunc
	silent  *time.Timer
	content io.ReadCloser
}

func (o *object) Read(p []byte) (int, error) {
	o.silent.Reset(answerMax)
	n, err := o.content.Read(p)
	o.silent.Stop()
	if err == io.EOF { // a wrapped one is no end
		return n, err
	}
	return n, because(o.ctx, err)
}

func (o *object) Close() error {
	o.silent.Stop()
	o.cancel(nil)
	return o.content.Close()
}

// because returns err, or the cause for which ctx has ended.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}
