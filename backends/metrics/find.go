package metrics

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Kind is a kind of server that can be recognised by its metrics.
type Kind struct {
	Name string // for messages, such as vLLM
	// Mark is a prefix of metric names that only this kind of server has. "" matches every server.
	Mark  string
	Names Names
}

// Find asks a running server for its metrics. It returns the kind of the server, as an index into kinds, and
// a copy of the addresses in which each has the path of its metrics. If an address has no path, Find tries the
// paths of all kinds, in the order of kinds. All addresses must belong to the same kind of server. Find takes
// at most ten seconds. The text of its error has no line breaks.
func Find(ctx context.Context, addresses []Address, kinds []Kind) (kind int, found []Address, err error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	addresses = slices.Clone(addresses)
	for i := range addresses {
		k, err := addresses[i].recognise(ctx, kinds)
		if err == nil && i > 0 && k != kind {
			err = fmt.Errorf("%s and %s have metrics of %s and %s: want one kind of server",
				addresses[0].Target.Where(), addresses[i].Target.Where(), kinds[kind].Name, kinds[k].Name)
		}
		if err != nil {
			return 0, nil, err
		}
		kind = k
	}
	return kind, addresses, nil
}

// recognise returns the index of the server's kind, and sets the path of its metrics. If no path succeeds,
// it returns the error of the last path.
func (a *Address) recognise(ctx context.Context, kinds []Kind) (kind int, err error) {
	var paths []string
	for _, k := range kinds {
		paths = append(paths, k.Names.Path)
	}
	err = a.try(ctx, paths, func(all families) (err error) {
		kind, err = all.recognise(kinds)
		return err
	})
	return kind, err
}

// try reads the metrics at the path of a or, if a has none, at each of the paths in turn, until accept takes the metrics. It
// sets the path of a. If no path succeeds, it returns the error of the last path.
func (a *Address) try(ctx context.Context, paths []string, accept func(families) error) error {
	if a.Path != "" {
		paths = []string{a.Path}
	}
	var last error
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			continue
		}
		all, err := a.read(ctx, path)
		if err != nil {
			last = err
			if ctx.Err() != nil {
				break
			}
			continue
		}
		if err = accept(all); err == nil {
			a.Path = path
			return nil
		}
		last = fmt.Errorf("GET %s from %s: %w", path, a.Target.Where(), err)
	}
	return last
}

// recognise returns the index of the kind of server whose metrics these are.
func (f families) recognise(kinds []Kind) (kind int, err error) {
	var names []string
	for i, k := range kinds {
		if !slices.Contains(names, k.Name) { // a kind may have another mark in another version
			names = append(names, k.Name)
		}
		if !f.has(k.Mark) {
			continue
		}
		if s := k.Names.snapshot(f); s.empty() {
			return 0, fmt.Errorf("metrics of %s, but none of its counters of requests, tokens, prefix cache and queue", k.Name)
		}
		return i, nil
	}
	if found := f.gateways(); len(found) > 0 {
		return 0, fmt.Errorf("these are the metrics of %s, which is no server: LLMBENCH_GATEWAY_METRICS names their address", found[0].name)
	}
	return 0, fmt.Errorf("these are not the metrics of a known server; known are %s", strings.Join(names, ", "))
}
