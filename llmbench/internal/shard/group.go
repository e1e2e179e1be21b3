package shard

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"sync"
	"time"
)

// A Group consists of this process and the other processes of a measurement. Only one goroutine may call
// its methods, except for Send, Fail and Context. After the group has ended, each method except Send and
// Finish returns the reason.
type Group struct {
	Part
	Hand []byte // data that shard 0 sent to all shards

	mu      sync.Mutex // held while links changes, and while another goroutine reads links
	links   []*link    // shard 0 has links to all others, and each other shard has a link to shard 0
	limit   time.Duration
	silence time.Duration
	normal  time.Duration // the longest normal silence of a process
	name    string        // name of this process, for errors
	base    time.Time     // zero of this process's clock
	begun   []offset      // at shard 0: offsets of the other clocks at the last start

	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup // goroutines of the links
	telling sync.WaitGroup // goroutines that tell other processes why the group has ended
	over    sync.Once
	unbind  func() bool   // after this, the end of Join's context does not end the group
	closing chan struct{} // closed by Close, after which no goroutine receives frames
	close   func()        // closes closing
}

// normalBeats is the number of beats by which a live process may be late.
const normalBeats = 3

// ErrLost is wrapped by the error of a group that ended before its work was done.
var ErrLost = errors.New("cannot judge")

// newGroup returns a group without links.
func newGroup(o Options) *Group {
	g := &Group{Part: o.Part, limit: o.StepTimeout, silence: o.Silence, normal: normalBeats * o.Beat, name: nameOf(o.Index, o.Name), base: time.Now(), closing: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancelCause(context.Background())
	g.close = sync.OnceFunc(func() { close(g.closing) })
	return g
}

// add adds a link, starts to read from it, and starts to send beats.
func (g *Group) add(l *link, beat time.Duration) {
	g.mu.Lock()
	g.links = append(g.links, l)
	g.mu.Unlock()
	g.running.Go(l.run)
	g.running.Go(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if l.send(frame{kindBeat, nil}) != nil {
					return
				}
			case <-g.ctx.Done():
				return
			}
		}
	})
}

// now returns the time on this process's clock.
func (g *Group) now() time.Duration { return time.Since(g.base) }

// leads reports whether this process is shard 0.
func (g *Group) leads() bool { return g.Index == 0 }

// Context returns a context that ends with the group. Its cause is the reason.
func (g *Group) Context() context.Context { return g.ctx }

// Err returns the reason why the group has ended, or nil if it has not ended.
func (g *Group) Err() error { return context.Cause(g.ctx) }

// Fail ends the group for all processes because of an error of this process. It returns the error that
// ended the group, which may be an earlier one.
func (g *Group) Fail(err error) error { return g.end(fmt.Errorf("%s: %w", g.name, err), nil) }

// end ends the group, unless it has already ended, and sends the reason to all processes except one. It
// returns the error that ended the group, which may be an earlier one.
func (g *Group) end(err error, except *link) error {
	g.over.Do(func() {
		g.cancel(fmt.Errorf("%w: %w", ErrLost, err))
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, l := range g.links {
			if l != except { // this goroutine may hold the lock of except
				g.telling.Go(func() { l.send(frame{kindFailed, []byte(err.Error())}) })
			}
		}
	})
	return g.Err()
}

// complete ends the group normally, unless it has already ended. A process that is lost afterwards is no error.
func (g *Group) complete() error {
	g.over.Do(func() { g.cancel(errClosed) })
	return g.Err()
}

var errClosed = errors.New("the group is closed")

// Close closes the connections. It waits at most a second for the other processes to read what was sent.
func (g *Group) Close() {
	g.unbind()
	g.close()
	g.complete() // if the group is just ending, this waits until all goroutines of telling have started
	g.telling.Wait()
	for _, l := range g.links {
		if c, ok := l.conn.(interface{ CloseWrite() error }); ok && c.CloseWrite() == nil {
			defer time.AfterFunc(time.Second, func() { l.conn.Close() }).Stop()
		} else {
			l.conn.Close()
		}
	}
	g.running.Wait()
	for _, l := range g.links {
		l.conn.Close()
	}
}

// Send sends samples of the current pass to shard 0, which receives them in Gather. The caller may reuse
// the slice afterwards. If the group has ended, Send still sends the samples, which are from requests that
// were in flight. In that case, it returns the error that ended the group, but only if shard 0 does not
// receive the samples.
func (g *Group) Send(samples []byte) error { return g.links[0].sendLast(frame{kindSamples, samples}) }

// EndSamples tells shard 0 that no more samples come in a step. It is for a group that has ended.
func (g *Group) EndSamples(step string) {
	if !g.leads() {
		g.telling.Wait() // the reason must be sent first
		g.links[0].sendLast(message{step, nil}.frame())
	}
}

// Gather sends the value mine of each process to shard 0. At shard 0, it returns the values of all
// processes, by the number of the shard; at other shards, all is nil. If take is not nil, shard 0 calls it
// with the samples that other processes send before their values, from several goroutines. If take is nil,
// there must be no samples. Gather waits for another process at most for the group's limit, but without a
// limit if take is not nil. If the group has ended, Gather still receives the samples of the other
// processes for a second.
func (g *Group) Gather(step string, mine []byte, take func(from int, samples []byte) error) (all [][]byte, err error) {
	if err := g.Err(); err != nil && (take == nil || !g.leads()) {
		return nil, err
	}
	if !g.leads() {
		return nil, g.links[0].send(message{step, mine}.frame())
	}
	all = make([][]byte, g.Count)
	all[0] = mine
	var wg sync.WaitGroup
	for _, l := range g.links {
		wg.Go(func() { all[l.index], _ = l.await(step, take) })
	}
	wg.Wait()
	return all, g.Err()
}

// await waits for the message of a step. If it returns an error, the group has ended.
func (l *link) await(step string, take func(int, []byte) error) ([]byte, error) {
	g := l.group
	var late <-chan time.Time
	if g.leads() && take == nil {
		timer := time.NewTimer(g.limit)
		defer timer.Stop()
		late = timer.C
	}
	ended := g.ctx.Done()
	var last <-chan struct{} // closed when await no longer waits for samples, some time after the end of the group
	for {
		var f frame
		live := true
		select {
		case f, live = <-l.in:
		case <-late:
			return nil, g.end(fmt.Errorf("%s did not come to %q within %v; a longer LLMBENCH_RENDEZVOUS_TIMEOUT gives it more time", l.name, step, g.limit), nil)
		case <-ended:
			wait := lastWords
			if take == nil {
				wait = 0
			}
			c, cancel := context.WithTimeout(context.Background(), wait)
			defer cancel()
			ended, last = nil, c.Done()
			continue
		case <-last:
			select {
			case f, live = <-l.in: // came before
			default:
				live = false
			}
		}
		if !live {
			return nil, g.Err()
		}
		if f.kind == kindSamples {
			if take == nil {
				return nil, g.end(fmt.Errorf("%s sent samples at %q", l.name, step), nil)
			}
			if err := take(l.index, f.data); err != nil {
				return nil, g.end(fmt.Errorf("samples of %s: %w", l.name, err), nil)
			}
			continue
		}
		m, err := parseMessage(f.data)
		switch {
		case err != nil:
			return nil, g.end(fmt.Errorf("%s: %w", l.name, err), nil)
		case m.step != step:
			return nil, g.end(fmt.Errorf("%s is at %q, and %s at %q: want the same benchmarks in the same order in all shards", l.name, m.step, g.name, step), nil)
		}
		return m.data, nil
	}
}

// Name returns the name of a shard for use in errors. Only shard 0 knows the names of other shards.
func (g *Group) Name(index int) string {
	for _, l := range g.links {
		if l.index == index {
			return l.name
		}
	}
	return g.name
}

// Elsewhere returns, at shard 0, the names of the processes that are on other machines, or in other
// networks of this machine. The two ends of their connections have different addresses.
func (g *Group) Elsewhere() (names []string) {
	for _, l := range g.links {
		local, isLocal := l.conn.LocalAddr().(*net.TCPAddr)
		remote, isRemote := l.conn.RemoteAddr().(*net.TCPAddr)
		if isLocal && isRemote && !local.IP.Equal(remote.IP) {
			names = append(names, l.name)
		}
	}
	return names
}

// nameOf returns the name of a process for use in errors.
func nameOf(index int, machine string) string { return fmt.Sprintf("shard %d (%s)", index, machine) }

// Share sends the value leaders from shard 0 to all processes, and returns it. It waits until shard 0 sends
// the value or is lost.
func (g *Group) Share(step string, leaders []byte) ([]byte, error) {
	return g.scatter(step, func(int) []byte { return leaders })
}

// Spread sends parts from shard 0 to all other processes, which call take with each part. A part may be
// reused when the next one is requested.
func (g *Group) Spread(step string, parts iter.Seq[[]byte], take func(part []byte) error) error {
	if err := g.Err(); err != nil {
		return err
	}
	if !g.leads() {
		_, err := g.links[0].await(step, func(_ int, part []byte) error { return take(part) })
		return err
	}
	for part := range parts {
		var wg sync.WaitGroup
		for _, l := range g.links {
			wg.Go(func() { l.send(frame{kindSamples, part}) })
		}
		if wg.Wait(); g.Err() != nil {
			return g.Err()
		}
	}
	_, err := g.Share(step, nil)
	return err
}

// scatter sends a value from shard 0 to each process, and returns it. At shard 0, the function of returns
// the value for a process.
func (g *Group) scatter(step string, of func(index int) []byte) ([]byte, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	if !g.leads() {
		return g.links[0].await(step, nil)
	}
	for _, l := range g.links {
		if err := l.send(message{step, of(l.index)}.frame()); err != nil {
			return nil, err
		}
	}
	return of(0), nil
}

// Agree returns an error in all processes if a fact is different in one of them. The error ends the group.
func (g *Group) Agree(step string, facts []Fact) error {
	mine, err := json.Marshal(facts)
	if err != nil {
		return g.Fail(err)
	}
	all, err := g.Gather(step, mine, nil)
	if err != nil {
		return err
	}
	if g.leads() {
		for _, l := range g.links {
			var other []Fact
			if err := json.Unmarshal(all[l.index], &other); err != nil {
				return g.Fail(fmt.Errorf("facts of %s: %w", l.name, err))
			}
			if text := differences(facts, other, g.name, l.name); text != "" {
				return g.end(fmt.Errorf("%s: %s", step, text), nil)
			}
		}
	}
	_, err = g.Share(step+": agreed", nil)
	return err
}

// head is how long in advance the instant of a start is agreed.
const head = 200 * time.Millisecond

// Start waits until all processes have called Start. It returns the same instant in all processes, each on
// its own clock.
func (g *Group) Start(step string) (time.Time, error) {
	if _, err := g.Gather(step+": ready", nil, nil); err != nil {
		return time.Time{}, err
	}
	instant := time.Duration(0)
	if g.leads() {
		var err error
		if g.begun, err = g.offsets(); err != nil {
			return time.Time{}, err
		}
		instant = g.now() + head
		for _, l := range g.links {
			l.quiet.Store(0)
		}
	}
	data, err := g.scatter(step+": start", func(index int) []byte {
		return binary.BigEndian.AppendUint64(nil, uint64(instant+g.begun[index].ahead))
	})
	if err == nil && len(data) != 8 {
		err = g.Fail(fmt.Errorf("a start of %d bytes: want 8", len(data)))
	}
	if err != nil {
		return time.Time{}, err
	}
	return g.base.Add(time.Duration(binary.BigEndian.Uint64(data))), nil
}

// Silences returns, at shard 0, the shards that were silent for longer than a live process normally is,
// since the last Start, and for how long.
func (g *Group) Silences() map[int]time.Duration {
	all := map[int]time.Duration{}
	for _, l := range g.links {
		if quiet := time.Duration(l.quiet.Load()); quiet > g.normal {
			all[l.index] = quiet
		}
	}
	return all
}

// Bound returns, at shard 0, an upper bound of the error with which instants of two processes can be
// compared. Consider two instants since the last Start, on the clocks of two processes, that are equal
// relative to the Start. Their true difference is at most the bound. Bound measures the clocks again, so
// that the bound includes clocks that run at different speeds.
func (g *Group) Bound() (time.Duration, error) {
	now, err := g.offsets()
	if err != nil {
		return 0, err
	}
	return spread(g.begun, now), nil
}

// offsets measures the offset of each process's clock from the clock of shard 0, by the number of the
// shard.
func (g *Group) offsets() ([]offset, error) {
	all := make([]offset, g.Count)
	var wg sync.WaitGroup
	for _, l := range g.links {
		wg.Go(func() { all[l.index], _ = l.offset() })
	}
	wg.Wait()
	return all, g.Err()
}
