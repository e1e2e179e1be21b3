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

// arrivals handles the processes that dial shard 0. A process that has dialed must first complete a
// handshake, which is called greeting here.
type arrivals struct {
	options  Options
	group    *Group
	all      chan arrival
	greeting sync.WaitGroup
	told     []string // the first refusals: who was refused, and why
	untold   int      // number of further refusals

	mu      sync.Mutex
	joined  []bool     // guarded by mu; by the number of the shard
	greeted []net.Conn // guarded by mu; processes that have not yet proved that they are shards, the oldest first
}

const (
	// mostGreetings is the maximum number of simultaneous handshakes. If another process dials, the
	// connection whose handshake began first is closed. A shard proves within a few round trips that it
	// knows the token, and dials again if it could not.
	mostGreetings = 64
	// helloTime is how long a process may be silent after it has dialed. A shard sends its hello at once.
	helloTime = 2 * time.Second
)

// accept performs the handshake with each process that dials, until the listener is closed.
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

// greet performs the handshake with a process that has dialed.
func (a *arrivals) greet(ctx context.Context, c net.Conn) (*proof, error) {
	c.SetDeadline(time.Now().Add(helloTime))
	if err := ctx.Err(); err != nil { // if ctx ended before SetDeadline, its deadline was replaced
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

// begin records that a handshake begins. If there are too many, it closes the connection of the oldest.
func (a *arrivals) begin(c net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.greeted = append(a.greeted, c)
	if len(a.greeted) > mostGreetings {
		a.greeted[0].Close()
		a.greeted = a.greeted[1:]
	}
}

// end records that a handshake has ended.
func (a *arrivals) end(c net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.greeted = slices.DeleteFunc(a.greeted, func(g net.Conn) bool { return g == c })
}

// A mismatch is the error about a process that knows the token but does not fit into the group. The other
// processes then cannot continue.
type mismatch struct{ error }

// accepts returns an error if a process that knows the token cannot join.
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

// forget allows a process to join again that was accepted, but did not receive the welcome.
func (a *arrivals) forget(who *proof, err error) {
	if who == nil || errors.As(err, new(mismatch)) || errors.Is(err, errToken) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.joined[who.Index] = false
}

// refused logs that a process was refused. Only the log has the name that the process has sent, because it is not
// verified: benchgate prints errors on standard output.
func (a *arrivals) refused(one arrival) {
	text := fmt.Sprintf("refused a process from %s: %v", one.conn.RemoteAddr(), one.err)
	if len(a.told) == mostTold { // anyone may dial as often as the network allows
		a.untold++
		return
	}
	a.told = append(a.told, text)
	if one.who != nil {
		text += "; its name, which is not verified: " + quoted(one.who.Name, mostName)
	}
	a.log(text)
}

// mostTold is the maximum number of refusals that are logged one by one.
const mostTold = 10

// more returns a text with the number of refusals that were not logged, or "".
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

// missing returns an error that names the processes that have not joined.
func (a *arrivals) missing(cause error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var names []string
	for i, there := range a.joined {
		if !there {
			names = append(names, fmt.Sprint(i))
		}
	}
	text := fmt.Sprintf("%s at %s: missing shards: %s", a.group.name, a.options.Addr, strings.Join(names, ", "))
	if len(a.told) > 0 {
		text += "; " + strings.Join(a.told, "; ")
	}
	if more := a.more(); more != "" {
		text += "; " + more
	}
	return fmt.Errorf("%s: %w", text, cause)
}
