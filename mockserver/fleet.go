package mockserver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// A Fleet is several servers, such as the replicas behind a router. Each has its own queue, prefix cache,
// LoRA adapters, metrics and log. Replicas may differ: one may be slower ([Config].Speed), refuse requests
// because its queue is full ([engine.Profile].MaxQueue or the fault http-503), or die (the fault die).
//
// A Fleet has no router. Package router has three.
type Fleet struct{ replicas []*Server }

// NewFleet returns a fleet with one server for each configuration. The error names the replica, from 1.
func NewFleet(replicas ...Config) (*Fleet, error) {
	if len(replicas) == 0 {
		return nil, errors.New("mockserver: fleet: no replicas: want at least one")
	}
	f := &Fleet{}
	for i, cfg := range replicas {
		s, err := New(cfg)
		if err != nil {
			return nil, fmt.Errorf("replica %d: %w", i+1, err)
		}
		f.replicas = append(f.replicas, s)
	}
	return f, nil
}

// Replicas returns the servers in the order of their configurations.
func (f *Fleet) Replicas() []*Server { return f.replicas }

// Listen serves each replica on a TCP address of its own. addr is the address of the first replica, such
// as "127.0.0.1:8000". The others have the next ports. If the port of addr is 0, each replica gets a free
// port. The results are as in [Listen]: stop stops all replicas at the same time. After an error, none is
// served.
func (f *Fleet) Listen(addr string) (urls []string, stop func(grace time.Duration), err error) {
	return f.ListenTLS(addr, nil)
}

// ListenTLS is like Listen, with TLS if config is not nil; see [ListenTLS].
func (f *Fleet) ListenTLS(addr string, config *tls.Config) (urls []string, stop func(grace time.Duration), err error) {
	if len(f.replicas) == 1 {
		url, stop, err := ListenTLS(addr, f.replicas[0], config)
		return []string{url}, stop, err
	}
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, nil, fmt.Errorf("mockserver: %w", err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port > 0 && int(port)+len(f.replicas)-1 > 65535 {
		return nil, nil, fmt.Errorf("mockserver: address %s for %d replicas: want a port from 1 to %d, or 0 for free ports", addr, len(f.replicas), 65536-len(f.replicas))
	}
	var stops []func(time.Duration)
	stop = func(grace time.Duration) {
		var all sync.WaitGroup
		for _, s := range stops {
			all.Go(func() { s(grace) })
		}
		all.Wait()
	}
	for i, s := range f.replicas {
		at := port
		if at > 0 {
			at += uint64(i)
		}
		url, end, err := ListenTLS(net.JoinHostPort(host, strconv.FormatUint(at, 10)), s, config)
		if err != nil {
			stop(0)
			return nil, nil, fmt.Errorf("replica %d: %w", i+1, err)
		}
		urls, stops = append(urls, url), append(stops, end)
	}
	return urls, stop, nil
}

// Usage returns what each replica received since the last Reset, as far as the requests have ended.
func (f *Fleet) Usage() []Usage {
	all := make([]Usage, len(f.replicas))
	for i, s := range f.replicas {
		all[i] = usageOf(s.Log())
	}
	return all
}

// Reset calls [Server.Reset] for each replica.
func (f *Fleet) Reset() {
	for _, s := range f.replicas {
		s.Reset()
	}
}
