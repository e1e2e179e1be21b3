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
	// Addresses are where the metrics are read. Several addresses are for replicas behind one URL, or for
	// processes of a server that count separately: their values are added up, or averaged for gauges.
	Addresses []Address
	// Reset, if not nil, empties the server's prefix cache. It is called before each pass. If it returns an
	// error that wraps [errors.ErrUnsupported], this version of the server cannot empty the cache, and the
	// error is only logged.
	Reset func(context.Context) error
	Logf  func(format string, args ...any) // if nil, nothing is logged
}

// scrape reads the server's metrics. It takes at most [probe.Timeout].
func (s Source) scrape(ctx context.Context) (snapshot, error) {
	if s.Names.Path == "" {
		return snapshot{}, nil
	}
	each, err := s.readEach(ctx)
	if err != nil {
		return snapshot{}, err
	}
	var replicas []float64
	if len(each) > 1 {
		for _, f := range each {
			one := s.Names.snapshot(f)
			replicas = append(replicas, valueOr0(cmp.Or(one.arrivals, one.requests)))
		}
	}
	all := s.Names.snapshot(merged(each))
	all.replicas = replicas
	return all, nil
}

// read reads the metrics of all addresses together. It takes at most [probe.Timeout].
func (s Source) read(ctx context.Context) (families, error) {
	each, err := s.readEach(ctx)
	return merged(each), err
}

// merged returns the metrics of several addresses together. It changes the metrics of the first one.
func merged(each []families) families {
	all := families{}
	for _, f := range each {
		all.add(f)
	}
	return all
}

// readEach reads the metrics of each address. It takes at most [probe.Timeout].
func (s Source) readEach(ctx context.Context) ([]families, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	read := make([]families, len(s.Addresses))
	errs := make([]error, len(s.Addresses))
	var wg sync.WaitGroup
	for i, a := range s.Addresses {
		wg.Go(func() { read[i], errs[i] = a.read(ctx, cmp.Or(a.Path, s.Names.Path)) })
	}
	wg.Wait()
	return read, errors.Join(errs...)
}

// bound returns a context with the timeout [probe.Timeout] and a cause that says so.
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, probe.Timeout, fmt.Errorf("no answer in %v", probe.Timeout))
}

// read reads the metrics at a path.
func (a Address) read(ctx context.Context, path string) (families, error) {
	body, err := probe.Fetch(ctx, a.Target, http.MethodGet, path, "")
	if _, transport := errors.AsType[*url.Error](err); transport { // its text would show the whole URL
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
		return nil, fmt.Errorf("GET %s from %s: the answer is not in the Prometheus text format: %w", path, a.Target.Where(), err)
	}
	return f, nil
}
