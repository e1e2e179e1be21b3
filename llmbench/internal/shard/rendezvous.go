package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// Options say which group a process joins, and how.
type Options struct {
	Part
	Addr    string        // host:port at which shard 0 listens
	Token   string        // a secret that all processes know
	Timeout time.Duration // maximum time until all processes have joined, and until each process comes to a step
	// StepTimeout is the maximum time until each process comes to a step; 0 means Timeout.
	StepTimeout time.Duration
	Name        string        // name of this machine, for errors
	Facts       []Fact        // facts that must be the same in all processes
	Hand        []byte        // data that shard 0 sends to all shards
	Log         func(string)  // receives texts about refused processes
	Beat        time.Duration // time between two signs of life; 0 means 300 ms
	Silence     time.Duration // silence after which a process is lost; 0 means ten seconds

	// Listen and Dial are for tests; nil means the network.
	Listen func(addr string) (net.Listener, error)
	Dial   func(ctx context.Context, addr string) (net.Conn, error)
}

// greetingTime is the maximum duration of a handshake.
const greetingTime = 10 * time.Second

// Join returns the group when all processes have joined it. The caller must close the group. If ctx ends,
// the group ends for all processes, even after Join has returned.
func Join(ctx context.Context, o Options) (*Group, error) {
	o.StepTimeout = cmp.Or(o.StepTimeout, o.Timeout)
	o.Beat = cmp.Or(o.Beat, 300*time.Millisecond)
	o.Silence = cmp.Or(o.Silence, 10*time.Second)
	if o.Listen == nil {
		o.Listen = listen
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}
	}
	g := newGroup(o)
	outer := ctx
	g.unbind = context.AfterFunc(ctx, func() { g.Fail(context.Cause(outer)) })
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("not within LLMBENCH_RENDEZVOUS_TIMEOUT=%v", o.Timeout))
	defer cancel()
	var err error
	if g.leads() {
		err = g.gatherAll(ctx, o)
	} else {
		err = g.join(ctx, o)
	}
	if err != nil {
		err = g.end(err, nil) // tells the processes that have joined
	} else {
		_, err = g.Share("all shards are there", nil)
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Loopback reports whether a host is a loopback address of this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// listen listens at the port of addr. If the host is a loopback address, it listens only on loopback.
// Otherwise it listens on all addresses, because a machine may resolve its own name to another address than
// the other machines do.
func listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if !Loopback(host) {
		addr = ":" + port
	}
	return net.Listen("tcp", addr)
}

// join dials shard 0 until it succeeds, is refused, or ctx ends.
func (g *Group) join(ctx context.Context, o Options) error {
	for again := 10 * time.Millisecond; ; again = min(2*again, time.Second) {
		err := g.dial(ctx, o)
		if why, final := errors.AsType[refusal](err); final {
			return fmt.Errorf("%s is refused by %s: %w", g.name, o.Addr, why)
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return fmt.Errorf("%s: shard 0 at %s: %w: %w", g.name, o.Addr, context.Cause(ctx), err)
		}
	}
}

// dial dials shard 0 once.
func (g *Group) dial(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, greetingTime)
	defer cancel()
	c, err := o.Dial(ctx, o.Addr)
	if err != nil {
		return err
	}
	deadline, _ := ctx.Deadline()
	c.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Now()) })()
	g.Hand, err = greetListener(c, o.Token, proof{Index: o.Index, Count: o.Count, Name: o.Name, Facts: o.Facts})
	if err != nil {
		c.Close()
		return err
	}
	g.add(newLink(g, c, 0, fmt.Sprintf("shard 0 (%s)", o.Addr)), o.Beat)
	return nil
}

// An arrival is a process that has dialed shard 0.
type arrival struct {
	conn net.Conn
	who  *proof // nil means unknown
	err  error  // the reason why the process is refused
}

// gatherAll listens until all other processes have joined the group.
func (g *Group) gatherAll(ctx context.Context, o Options) error {
	g.Hand = o.Hand
	ln, err := o.Listen(o.Addr)
	if err != nil {
		return fmt.Errorf("%s: LLMBENCH_RENDEZVOUS: %w", g.name, err)
	}
	a := &arrivals{options: o, group: g, joined: make([]bool, o.Count), all: make(chan arrival)}
	a.joined[0] = true
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer func() { stop(); ln.Close(); cancel(); a.greeting.Wait() }()
	a.greeting.Go(func() { a.accept(ctx, ln) })
	for len(g.links) < o.Count-1 {
		select {
		case one := <-a.all:
			switch {
			case one.err == nil:
				g.add(newLink(g, one.conn, one.who.Index, nameOf(one.who.Index, one.who.Name)), o.Beat)
			case errors.As(one.err, new(mismatch)):
				return one.err
			default:
				a.refused(one)
			}
		case <-g.ctx.Done(): // a process that had joined is lost
			return g.Err()
		case <-ctx.Done():
			return a.missing(context.Cause(ctx))
		}
	}
	a.log(a.more())
	return nil
}
