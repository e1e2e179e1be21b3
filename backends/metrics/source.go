package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
)

// A Source is a server whose metrics are read.
type Source struct {
	Names Names
	// Addresses are where the metrics are. The values of several addresses are
	// added up, and those of gauges averaged: they are for replicas behind one URL,
	// and for processes that count apart.
	Addresses []Address
	// Reset, if not nil, empties the server's prefix cache. It is called before
	// each pass. An error that wraps [errors.ErrUnsupported] is only logged:
	// this version of the server cannot do it.
	Reset func(context.Context) error
	Logf  func(format string, args ...any) // nil logs nothing
}

// scrape reads the server's metrics. It waits at most [probe.Timeout].
func (s Source) scrape(ctx context.Context) (snapshot, error) {
	if s.Names.Path == "" {
		return snapshot{}, nil
	}
	ctx, cancel := bound(ctx)
	defer cancel()
	read := make([]families, len(s.Addresses))
	errs := make([]error, len(s.Addresses))
	var wg sync.WaitGroup
	for i, a := range s.Addresses {
		wg.Go(func() { read[i], errs[i] = a.read(ctx, cmp.Or(a.Path, s.Names.Path)) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return snapshot{}, err
	}
	all := families{}
	for _, f := range read {
		all.add(f)
	}
	return s.Names.snapshot(all), nil
}

// bound returns a context for requests that are waited for no longer than
// [probe.Timeout].
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, probe.Timeout, fmt.Errorf("no answer in %v", probe.Timeout))
}

// read reads the metrics at a path.
func (a Address) read(ctx context.Context, path string) (families, error) {
	body, err := probe.Fetch(ctx, a.Target, http.MethodGet, path, "")
	if _, transport := errors.AsType[*url.Error](err); transport { // which shows the whole URL
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, fmt.Errorf("GET %s from %s: %s", path, a.Target.Where(), probe.Reason(err))
	}
	if err != nil {
		return nil, err
	}
	f, err := parse(body)
	if err != nil {
		return nil, fmt.Errorf("GET %s from %s: the answer is no text of Prometheus metrics: %w", path, a.Target.Where(), err)
	}
	return f, nil
}
