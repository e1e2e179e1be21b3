package shard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// arrivals are the processes that dial shard 0.
type arrivals struct {
	options  Options
	group    *Group
	all      chan arrival
	greeting sync.WaitGroup
	told     []string // who was refused first, and why
	untold   int      // number of further refusals

	mu      sync.Mutex
	joined  []bool     // guarded by mu; by the number of the shard
	greeted []net.Conn // guarded by mu; of processes that have not proved that they are shards, the oldest first
}

const (
	// mostGreetings is how many processes are greeted at once. When another one dials, the connection
	// is closed that has been greeted for the longest time: a shard proves within a few round trips
	// that it knows the token, and dials again if it could not.
	mostGreetings = 64
	// helloTime is how long a process may be silent after it has dialed. A shard says hello at once.
	helloTime = 2 * time.Second
)

// accept greets each process that dials, until the listener is closed.
func (a *arrivals) accept(ctx context.Context, ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		a.begin(c)
		a.greeting.Go(func() {
			stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Now()) })
			who, err := a.greet(ctx, c)
			a.end(c)
			if err != nil || !stop() {
				c.Close()
				a.forget(who, err)
			}
			select {
			case a.all <- arrival{c, who, err}:
			case <-ctx.Done():
				c.Close()
			}
		})
	}
}

// greet greets a process that has dialed.
func (a *arrivals) greet(ctx context.Context, c net.Conn) (*proof, error) {
	c.SetDeadline(time.Now().Add(helloTime))
	if err := ctx.Err(); err != nil { // its own deadline may be replaced
		return nil, err
	}
	dialer, err := awaitHello(c)
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(greetingTime))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return greetDialer(c, dialer, a.options.Token, a.options.Hand, a.accepts)
}

// begin notes that a process is greeted. It closes the connection of another one if there are too many.
func (a *arrivals) begin(c net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.greeted = append(a.greeted, c)
	if len(a.greeted) > mostGreetings {
		a.greeted[0].Close()
		a.greeted = a.greeted[1:]
	}
}

// end notes that a process is greeted no more.
func (a *arrivals) end(c net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.greeted = slices.DeleteFunc(a.greeted, func(g net.Conn) bool { return g == c })
}

// A mismatch is a process of the group that cannot be one of it. The others cannot go on.
type mismatch struct{ error }

// accepts returns why a process that knows the token cannot join.
func (a *arrivals) accepts(p *proof) error {
	o := a.options
	name := nameOf(p.Index, p.Name)
	if p.Count != o.Count || p.Index < 1 || p.Index >= o.Count {
		return mismatch{fmt.Errorf("%s is %d of %d shards: want 1 to %d of %d", name, p.Index, p.Count, o.Count-1, o.Count)}
	}
	if text := differences(o.Facts, p.Facts, a.group.name, name); text != "" {
		return mismatch{errors.New(text)}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.joined[p.Index] {
		return mismatch{fmt.Errorf("%s has already joined: want another LLMBENCH_SHARD in each process", name)}
	}
	a.joined[p.Index] = true
	return nil
}

// forget lets a process join again that was accepted and has not been told.
func (a *arrivals) forget(who *proof, err error) {
	if who == nil || errors.As(err, new(mismatch)) || errors.Is(err, errToken) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.joined[who.Index] = false
}

// refused tells that a process was refused.
func (a *arrivals) refused(one arrival) {
	who := "somebody"
	if one.who != nil {
		who = "somebody as " + nameOf(one.who.Index, one.who.Name)
	}
	text := fmt.Sprintf("refused %s from %s: %v", who, one.conn.RemoteAddr(), one.err)
	if len(a.told) == mostTold { // somebody may dial as often as the network allows
		a.untold++
		return
	}
	a.told = append(a.told, text)
	a.log(text)
}

// mostTold is how many refusals are told one by one.
const mostTold = 10

// more says how many refusals were not told, or "".
func (a *arrivals) more() string {
	if a.untold == 0 {
		return ""
	}
	return fmt.Sprintf("refused %d more", a.untold)
}

func (a *arrivals) log(text string) {
	if a.options.Log != nil && text != "" {
		a.options.Log(text)
	}
}

// missing returns an error that names the processes that are not there.
func (a *arrivals) missing(cause error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var names []string
	for i, there := range a.joined {
		if !there {
			names = append(names, fmt.Sprint(i))
		}
	}
	text := fmt.Sprintf("%s at %s: shards that are not there: %s", a.group.name, a.options.Addr, strings.Join(names, ", "))
	if len(a.told) > 0 {
		text += "; " + strings.Join(a.told, "; ")
	}
	if more := a.more(); more != "" {
		text += "; " + more
	}
	return fmt.Errorf("%s: %w", text, cause)
}
