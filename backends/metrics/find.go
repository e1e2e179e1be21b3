package metrics

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Kind is a kind of server that is recognised by its metrics.
type Kind struct {
	Name string // for messages, such as vLLM
	// Mark begins the names of metrics of this kind of server, and of no other. ""
	// begins the names of every server.
	Mark  string
	Names Names
}

// Find asks a server that runs for its metrics, and returns the index of the kind that it
// is of, and the addresses with the paths of the metrics. Where an address has no path, the
// paths of all kinds are tried, in the order of the kinds. All addresses have to be
// of the same kind. Find waits at most ten seconds. Its error is for one line.
func Find(ctx context.Context, addresses []Address, kinds []Kind) (kind int, found []Address, err error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	addresses = slices.Clone(addresses)
	for i := range addresses {
		k, err := addresses[i].recognise(ctx, kinds)
		if err == nil && i > 0 && k != kind {
			err = fmt.Errorf("%s and %s have metrics of %s and %s; want those of one kind of server",
				addresses[0].Target.Where(), addresses[i].Target.Where(), kinds[kind].Name, kinds[k].Name)
		}
		if err != nil {
			return 0, nil, err
		}
		kind = k
	}
	return kind, addresses, nil
}

// recognise finds the index of the kind of the server, and sets the path of its metrics. Its
// error is that of the last path.
func (a *Address) recognise(ctx context.Context, kinds []Kind) (kind int, err error) {
	paths := []string{a.Path}
	if a.Path == "" {
		paths = nil
		for _, k := range kinds {
			if !slices.Contains(paths, k.Names.Path) {
				paths = append(paths, k.Names.Path)
			}
		}
	}
	var last error
	for _, path := range paths {
		all, err := a.read(ctx, path)
		if err != nil {
			last = err
			if ctx.Err() != nil {
				break
			}
			continue
		}
		k, err := all.recognise(kinds)
		if err == nil {
			a.Path = path
			return k, nil
		}
		last = fmt.Errorf("GET %s from %s: %w", path, a.Target.Where(), err)
	}
	return 0, last
}

// recognise returns the index of the kind of server that has these metrics.
func (f families) recognise(kinds []Kind) (kind int, err error) {
	var names []string
	for i, k := range kinds {
		names = append(names, k.Name)
		if !f.has(k.Mark) {
			continue
		}
		if s := k.Names.snapshot(f); s.empty() {
			return 0, fmt.Errorf("metrics of %s, but none of its counters of requests, tokens, prefix cache and queue", k.Name)
		}
		return i, nil
	}
	return 0, fmt.Errorf("these are not the metrics of a known server; known are %s", strings.Join(names, ", "))
}
