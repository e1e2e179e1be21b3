package llmbench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// ErrClientBound is what an error of [Pass] wraps when the client distorts the pass.
var ErrClientBound = errors.New("client-bound")

// Pass measures t under l once: the warm-up, then one pass over l.Requests, as
// [Run] does, but for no benchmark. It is for searches, whose op is many passes,
// each of another load. It returns the samples of the pass and the time it took,
// from the first t0 to the end of the last response; [sample.Summarize] makes figures of
// them.
//
// Failed requests are samples like any other, however many: l.MaxFail is for the
// warm-up alone. The error tells that the pass could not be made, or contradicts
// itself, or was given up because ctx has ended, and then there are no samples. With
// LLMBENCH_OUT the samples are written to a file with that name, whatever the error.
//
// If the client distorts a core unit, or one of l.Units, by more than
// l.MaxDistortion, the error wraps [ErrClientBound] and says which; the samples are
// returned with it. With [BoundReported], which is how a target that is Simulated is
// measured unless l.ClientBound or LLMBENCH_CLIENT_BOUND says otherwise, that is not
// looked for: in a testing/synctest bubble it could not be.
func Pass(ctx context.Context, name string, t Target, l Load) ([]sample.Sample, time.Duration, error) {
	cfg, err := readConfig()
	if err != nil {
		return nil, 0, err
	}
	if l, err = l.check(); err != nil {
		return nil, 0, err
	}
	if l.Fresh != nil {
		return nil, 0, errors.New("load: Fresh for a single pass; want Requests")
	}
	posts, err := l.bodies(t, l.Requests)
	if err != nil {
		return nil, 0, err
	}
	c, err := newClient(t)
	if err != nil {
		return nil, 0, err
	}
	defer c.close()
	if err := c.warmUp(ctx, &l); err != nil {
		return nil, 0, fmt.Errorf("warm-up: %w", err)
	}
	judged := clientBound(&l, cfg, t) != BoundReported
	if judged {
		if c.control, err = newControl(c.gap); err != nil {
			return nil, 0, err
		}
		defer c.control.close()
	}
	rec, err := newRecorder(cfg.out, name, t, l)
	if err != nil {
		return nil, 0, err
	}
	samples, err := c.pass(ctx, &l, posts)
	err = errors.Join(err, rec.write(samples), context.Cause(ctx))
	took := sample.Elapsed(samples)
	end := recordEnd{Outcome: endedOK}
	if err == nil && judged {
		var distorted distortion.Estimate
		distorted.Add(distortion.Pass{Samples: samples, Pauses: c.idles.all, Errors: c.errors, Strain: c.strain})
		r := distorted.Report(l.units(), sample.Summarize(samples, took, l.SLO).Metrics, l.MaxDistortion, l.shown(cfg))
		end.Withheld = r.Units
		if len(end.Withheld) > 0 {
			l.tell(end.Withheld)
			err = fmt.Errorf("%w: %s", ErrClientBound, r.Text)
		}
	}
	if err != nil {
		end.Outcome, end.Why = endedFailed, err.Error()
		err = fmt.Errorf("%w%s", err, rec.where())
	}
	if closed := rec.close(end); closed != nil {
		return nil, 0, errors.Join(err, closed)
	}
	if err != nil && !errors.Is(err, ErrClientBound) {
		return nil, 0, err
	}
	return samples, took, err
}
