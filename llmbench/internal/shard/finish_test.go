package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// rounds returns n, or 2,000 if LLMBENCH_FULL=1 asks for the long form of a test.
func rounds(n int) int {
	if os.Getenv("LLMBENCH_FULL") == "1" {
		return 2000
	}
	return n
}

// TestFinish ends groups on loopback, again and again. All processes must get the largest status.
func TestFinish(t *testing.T) {
	for _, count := range []int{3, 16} {
		t.Run(fmt.Sprint(count, " shards"), func(t *testing.T) {
			want := make([]byte, count)
			for i := range want {
				want[i] = byte(count - 1)
			}
			for range rounds(20) {
				ln, err := net.Listen("tcp", "127.0.0.1:0")
				assert.NilError(t, err)
				statuses := make([]byte, count)
				errs := each(count, func(o *Options) {
					o.Listen = func(string) (net.Listener, error) { return ln, nil }
					o.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
						return new(net.Dialer).DialContext(ctx, "tcp", ln.Addr().String())
					}
				}, func(g *Group) (err error) {
					statuses[g.Index], err = g.Finish(byte(g.Index))
					return err
				})
				assert.NilError(t, errors.Join(errs...))
				assert.DeepEqual(t, statuses, want)
			}
		})
	}
}

// A far connection delivers what is written, and its end, in order and after a delay.
type far struct {
	net.Conn
	delay  time.Duration
	queue  chan parcel
	closed chan struct{}
	close  func()
}

// A parcel is what a Write has written, or the end of the connection if it has no data.
type parcel struct {
	data []byte
	due  time.Time
}

func newFar(c net.Conn, delay time.Duration) *far {
	f := &far{Conn: c, delay: delay, queue: make(chan parcel, 1024), closed: make(chan struct{})}
	f.close = sync.OnceFunc(func() {
		close(f.closed)
		f.queue <- parcel{due: time.Now().Add(delay)}
		c.SetReadDeadline(time.Now())
	})
	go func() {
		defer c.Close()
		for p := range f.queue {
			time.Sleep(time.Until(p.due))
			if p.data == nil {
				return
			}
			if _, err := c.Write(p.data); err != nil {
				return
			}
		}
	}()
	return f
}

func (f *far) Write(p []byte) (int, error) {
	select {
	case <-f.closed:
		return 0, net.ErrClosed
	default:
		f.queue <- parcel{append([]byte{}, p...), time.Now().Add(f.delay)}
		return len(p), nil
	}
}

func (f *far) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	select {
	case <-f.closed:
		return n, cmp.Or(err, net.ErrClosed)
	default:
		return n, err
	}
}

func (f *far) Close() error                     { f.close(); return nil }
func (f *far) SetWriteDeadline(time.Time) error { return nil }
func (f *far) SetDeadline(at time.Time) error   { return f.SetReadDeadline(at) }
func (f *far) SetReadDeadline(at time.Time) error {
	select {
	case <-f.closed:
		return nil
	default:
		return f.Conn.SetReadDeadline(at)
	}
}

// A farListener accepts far connections.
type farListener struct {
	*memnet.Listener
	delay time.Duration
}

func (l farListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newFar(c, l.delay), nil
}

// TestFinishInterrupted interrupts one process, at any instant while the group ends on a network with delays.
// Either all processes must finish, with the same status, or all must fail.
func TestFinishInterrupted(t *testing.T) {
	finished, failed := 0, 0
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			const count = 4
			random := rand.New(rand.NewPCG(seed, 0))
			upTo := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
			ln := memnet.Listen()
			defer ln.Close()
			interrupted := random.IntN(count)
			toOthers, at := upTo(50*time.Millisecond), upTo(400*time.Millisecond)
			statuses, errs := make([]byte, count), make([]error, count)
			var joined, left sync.WaitGroup
			joined.Add(count)
			for i := range count {
				ready, toLeader := upTo(200*time.Millisecond), upTo(100*time.Millisecond)
				left.Go(func() {
					ctx, cancel := context.WithCancelCause(context.Background())
					defer cancel(nil)
					o := options(ln, i, count)
					o.Listen = func(string) (net.Listener, error) { return farListener{ln, toOthers}, nil }
					if dial := o.Dial; i > 0 {
						o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
							c, err := dial(ctx, addr)
							return newFar(c, toLeader), err
						}
					}
					g, err := Join(ctx, o)
					assert.NilError(t, err)
					defer g.Close()
					joined.Done()
					joined.Wait()
					if i == interrupted {
						time.AfterFunc(at, func() { cancel(errors.New("interrupted")) })
					}
					time.Sleep(ready)
					statuses[i], errs[i] = g.Finish(byte(i))
				})
			}
			left.Wait()
			time.Sleep(time.Second) // until the network has delivered everything
			for i := range count {
				assert.Check(t, (errs[i] == nil) == (errs[0] == nil) && (errs[i] != nil || statuses[i] == count-1), "seed %d: shard %d was interrupted: %v %v", seed, interrupted, statuses, errs)
			}
			if errs[0] == nil {
				finished++
			} else {
				failed++
			}
		})
	}
	assert.Assert(t, finished > 50 && failed > 50, "%d %d", finished, failed) // the test tries both
}

// TestFinishSlowly checks that shard 0 waits until a slow process has the status, and not for one that hangs.
func TestFinishSlowly(t *testing.T) {
	for hangs, want := range map[bool]time.Duration{false: 5 * time.Second, true: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			statuses := make([]byte, 3)
			errs := each(3, nil, func(g *Group) (err error) {
				if g.Index == 2 {
					if _, err = g.Gather(stepEnd, []byte{2}, nil); err != nil {
						return err
					}
					wait := want
					if hangs {
						wait = time.Hour
					}
					time.Sleep(wait)
					statuses[2], err = g.links[0].decision()
					return err
				}
				began := time.Now()
				statuses[g.Index], err = g.Finish(byte(g.Index))
				if g.Index == 0 {
					assert.Check(t, time.Since(began) == want, "%v", time.Since(began))
				}
				return err
			})
			assert.NilError(t, errors.Join(errs...))
			assert.DeepEqual(t, statuses, []byte{2, 2, 2})
		})
	}
}
