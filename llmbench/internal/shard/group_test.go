package shard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

const token = "a token of all shards"

// options returns the options of a shard on a network in memory.
func options(ln *memnet.Listener, index, count int) Options {
	return Options{
		Part: Part{index, count}, Addr: "mem:1", Token: token, Timeout: time.Minute, Name: fmt.Sprintf("machine %d", index),
		Facts:  []Fact{{"binary", "abc"}, {"seed", "1"}},
		Hand:   []byte("salt"),
		Listen: func(string) (net.Listener, error) { return ln, nil },
		Dial:   func(ctx context.Context, addr string) (net.Conn, error) { return ln.Dial(ctx, "tcp", addr) },
	}
}

// each runs all shards, each in its own goroutine, until they have returned. It returns their errors. The
// function change changes the options of a shard; it may be nil.
func each(count int, change func(*Options), run func(g *Group) error) []error {
	ln := memnet.Listen()
	defer ln.Close()
	errs := make([]error, count)
	var wg sync.WaitGroup
	for i := range count {
		wg.Go(func() {
			o := options(ln, i, count)
			if change != nil {
				change(&o)
			}
			g, err := Join(context.Background(), o)
			if err != nil {
				errs[i] = err
				return
			}
			defer g.Close()
			errs[i] = run(g)
		})
	}
	wg.Wait()
	return errs
}

// TestSpreadParts checks that each process gets the parts of shard 0, in order.
func TestSpreadParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := each(3, nil, func(g *Group) error {
			var got []string
			parts := func(yield func([]byte) bool) {
				part := make([]byte, 1)
				for part[0] = 'a'; part[0] < 'e' && yield(part); part[0]++ {
				}
			}
			err := g.Spread("result", parts, func(part []byte) error { got = append(got, string(part)); return nil })
			if err != nil {
				return err
			}
			if g.Index > 0 {
				assert.Check(t, strings.Join(got, "") == "abcd", "%q", got)
			}
			if _, err := g.Gather("all have it", nil, nil); err != nil { // a failure may overtake earlier messages
				return err
			}
			err = g.Spread("full", parts, func([]byte) error {
				if g.Index == 2 {
					return errors.New("no room")
				}
				return nil
			})
			if err == nil { // another process may fail afterwards
				_, err = g.Finish(0)
			}
			return err
		})
		for _, err := range errs {
			assert.ErrorContains(t, err, "no room")
		}
	})
}

// TestLateReason checks a process that has received nothing for too long, for example because it was
// stopped itself. If something comes just afterwards, the process must believe it: the others then tell
// which process is lost.
func TestLateReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := each(2, func(o *Options) {
			if o.Index == 1 {
				o.Beat = time.Hour
			}
		}, func(g *Group) error {
			if g.Index == 1 {
				time.Sleep(10*time.Second + lastWords/2)
				return g.Fail(errors.New("shard 0 is lost"))
			}
			_, err := g.Gather("next", nil, nil)
			return err
		})
		for _, err := range errs {
			assert.Error(t, err, "cannot judge: shard 1 (machine 1): shard 0 is lost")
		}
	})
}

// TestElsewhere checks that a process with another address is recognised.
func TestElsewhere(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	from := []string{"", "127.0.0.1", "127.0.0.2"} // each is an address of this machine
	if c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from[2])}}).Dial("tcp", ln.Addr().String()); err != nil {
		t.Skipf("this machine has no second address on loopback: %v", err)
	} else {
		c.Close()
		c, err = ln.Accept()
		assert.NilError(t, err)
		c.Close()
	}
	errs := each(3, func(o *Options) {
		o.Listen = func(string) (net.Listener, error) { return ln, nil }
		o.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from[o.Index])}}).DialContext(ctx, "tcp", ln.Addr().String())
		}
	}, func(g *Group) error {
		if g.Index == 0 {
			assert.Check(t, fmt.Sprint(g.Elsewhere()) == "[shard 2 (machine 2)]", "%v", g.Elsewhere())
		}
		_, err := g.Finish(0)
		return err
	})
	for _, err := range errs {
		assert.NilError(t, err)
	}
}

// TestManyStrangers checks that processes that dial but cannot join do not flood the log.
func TestManyStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const strangers = 500
		var mu sync.Mutex
		var log []string
		errs := each(2, func(o *Options) {
			o.Log = func(text string) { mu.Lock(); defer mu.Unlock(); log = append(log, text) }
			if dial := o.Dial; o.Index == 1 {
				first := true
				o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
					for range strangers {
						if !first {
							break
						}
						c, err := dial(ctx, addr)
						assert.Check(t, err == nil)
						c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
						c.Close()
					}
					if first {
						first = false
						time.Sleep(time.Second)
					}
					return dial(ctx, addr)
				}
			}
		}, func(g *Group) error { _, err := g.Finish(0); return err })
		assert.NilError(t, errors.Join(errs...))
		assert.Equal(t, len(log), mostTold+1, "%v", log)
		assert.Equal(t, log[mostTold], fmt.Sprintf("refused %d more", strangers-mostTold))
	})
}

// TestSilentStrangers checks that processes that dial and send nothing do not prevent a shard from joining.
func TestSilentStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var silent []net.Conn
		errs := each(2, func(o *Options) {
			if dial := o.Dial; o.Index == 1 {
				o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
					for len(silent) < 200 {
						c, err := dial(ctx, addr)
						if err != nil {
							return nil, err
						}
						silent = append(silent, c)
					}
					return dial(ctx, addr)
				}
			}
		}, func(g *Group) error {
			if took := time.Since(began); took > time.Second {
				t.Errorf("the shards met after %v", took)
			}
			_, err := g.Finish(0)
			return err
		})
		for _, c := range silent {
			c.Close()
		}
		assert.NilError(t, errors.Join(errs...))
	})
}

// TestGroup goes through all steps with four shards.
func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		starts := make([]time.Time, 4)
		errs := each(4, nil, func(g *Group) error {
			assert.Check(t, string(g.Hand) == "salt")
			if err := g.Agree("begin", []Fact{{"requests", "5"}}); err != nil {
				return err
			}
			time.Sleep(time.Duration(g.Index) * time.Second) // the last one is ready after 3 s
			at, err := g.Start("pass 0")
			if err != nil {
				return err
			}
			starts[g.Index] = at
			var mu sync.Mutex
			got := map[int]string{}
			take := func(from int, data []byte) error {
				mu.Lock()
				defer mu.Unlock()
				got[from] += string(data)
				return nil
			}
			if g.Index > 0 {
				for i := range 3 {
					time.Sleep(time.Minute)
					if err := g.Send(fmt.Append(nil, g.Index, i, " ")); err != nil {
						return err
					}
				}
			}
			all, err := g.Gather("pass 0 ended", fmt.Append(nil, "end ", g.Index), take)
			if err != nil {
				return err
			}
			if g.Index == 0 {
				for i, data := range all {
					assert.Check(t, string(data) == fmt.Sprint("end ", i))
				}
				assert.Check(t, got[3] == "3 0 3 1 3 2 ", got[3])
				bound, err := g.Bound()
				assert.Check(t, err == nil && bound == 0, "%v %v", bound, err)
			}
			data, err := g.Share("verdict", []byte("fine"))
			assert.Check(t, g.Index == 0 || string(data) == "fine")
			if err != nil {
				return err
			}
			status, err := g.Finish(byte(g.Index))
			assert.Check(t, status == 3)
			return err
		})
		for i, err := range errs {
			assert.NilError(t, err, "shard %d", i)
			assert.Equal(t, starts[i], starts[0])
		}
		assert.Equal(t, starts[0].Sub(began), 3*time.Second+head)
	})
}

// TestLost ends one shard in several ways in the middle of a step. All others must report within a bounded
// time which one it was, and why.
func TestLost(t *testing.T) {
	for _, test := range []struct {
		name, want string
		within     time.Duration
		end        func(g *Group)
	}{
		{"dies", "cannot judge: shard 2 (machine 2) is lost: it closed the connection", 0, func(g *Group) { g.links[0].conn.Close() }},
		{"fails", "cannot judge: shard 2 (machine 2): disk full", 0, func(g *Group) { g.Fail(errors.New("disk full")) }},
		{"is at another step", `cannot judge: shard 2 (machine 2) is at "other", and shard 0 (machine 0) at "a": want the same benchmarks in the same order in all shards`, 0,
			func(g *Group) { g.Gather("other", nil, nil) }},
		{"does not come", `cannot judge: shard 2 (machine 2) did not come to "a" within 1m0s; a longer LLMBENCH_RENDEZVOUS_TIMEOUT gives it more time`, time.Minute, func(g *Group) { time.Sleep(2 * time.Minute) }},
		{"disagrees", "cannot judge: a: seed: 1 in shard 0 (machine 0), 2 in shard 2 (machine 2)", 0, func(g *Group) { g.Agree("a", []Fact{{"seed", "2"}}) }},
		{"sends a strange frame", "cannot judge: shard 2 (machine 2) sent a frame of kind 1 after the greeting", 0, func(g *Group) { g.links[0].send(frame{kindHello, nil}) }},
		{"sends no frame", "cannot judge: shard 2 (machine 2) is lost: a frame of kind 0: want 1 to 11", 0, func(g *Group) { g.links[0].send(frame{0, nil}) }},
		{"sends samples too early", `cannot judge: shard 2 (machine 2) sent samples at "a"`, 0, func(g *Group) { g.Send(nil) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				errs := each(4, nil, func(g *Group) error {
					began := time.Now()
					if g.Index == 2 {
						test.end(g)
						<-g.Context().Done()
						return nil
					}
					err := g.Agree("a", []Fact{{"seed", "1"}})
					assert.Check(t, time.Since(began) == test.within, "%v", time.Since(began))
					assert.Check(t, g.Context().Err() != nil)
					assert.Check(t, g.Err() == err)
					_, again := g.Share("b", nil)
					assert.Check(t, again == err)
					return err
				})
				for _, i := range []int{0, 1, 3} {
					assert.Error(t, errs[i], test.want, "shard %d", i)
					assert.ErrorIs(t, errs[i], ErrLost)
				}
			})
		})
	}
}

// A slow connection has a reader that continues half a second after it has read a certain text.
type slow struct {
	net.Conn
	text string
}

func (s slow) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if strings.Contains(string(p[:n]), s.text) {
		time.Sleep(time.Second / 2)
	}
	return n, err
}

// TestSendAfterFailure checks a process that sends when shard 0 is gone, before the process has read the
// reason.
func TestSendAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := each(3, func(o *Options) {
			if o.Index == 1 {
				dial := o.Dial
				o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
					c, err := dial(ctx, addr)
					return slow{c, "disk full"}, err
				}
			}
		}, func(g *Group) error {
			switch g.Index {
			case 1:
				time.Sleep(time.Second / 4)
				return g.Agree("a", nil)
			case 2:
				return g.Fail(errors.New("disk full"))
			}
			return g.Agree("a", nil)
		})
		for i, err := range errs {
			assert.Error(t, err, "cannot judge: shard 2 (machine 2): disk full", "shard %d", i)
		}
	})
}

// A late connection has a writer that continues a second after it has written a certain text.
type late struct {
	net.Conn
	text string
}

func (c late) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if strings.Contains(string(p), c.text) {
		time.Sleep(time.Second)
	}
	return n, err
}

// TestFinishLate checks that shard 0 may send the status before another shard waits for the status.
func TestFinishLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		statuses := make([]byte, 3)
		errs := each(3, func(o *Options) {
			if o.Index == 2 {
				o.Beat = time.Minute // a beat would wait for the lock of the writer, and the fake clock for the beat
				dial := o.Dial
				o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
					c, err := dial(ctx, addr)
					return late{c, "the end"}, err
				}
			}
		}, func(g *Group) (err error) {
			statuses[g.Index], err = g.Finish(byte(g.Index))
			return err
		})
		for i, err := range errs {
			assert.NilError(t, err, "shard %d", i)
		}
		assert.DeepEqual(t, statuses, []byte{2, 2, 2})
	})
}

// TestInterrupted interrupts one shard while others continue, or have not joined yet. All must notice this
// at once.
func TestInterrupted(t *testing.T) {
	for _, interrupted := range []int{0, 2} {
		t.Run(fmt.Sprintf("shard %d in a step", interrupted), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := memnet.Listen()
				defer ln.Close()
				began := time.Now()
				var wg sync.WaitGroup
				for i := range 3 {
					wg.Go(func() {
						ctx, cancel := context.WithCancelCause(context.Background())
						defer cancel(nil)
						g, err := Join(ctx, options(ln, i, 3))
						assert.NilError(t, err)
						defer g.Close()
						if i == interrupted {
							time.AfterFunc(time.Second, func() { cancel(errors.New("interrupted")) })
						}
						switch i {
						case 0:
							_, err = g.Gather("ended", nil, func(int, []byte) error { return nil })
						case 1: // in a pass
							<-g.Context().Done()
							err = g.Err()
						case 2:
							_, err = g.Share("verdict", nil)
						}
						assert.Check(t, err != nil && err.Error() == fmt.Sprintf("cannot judge: shard %d (machine %[1]d): interrupted", interrupted), "%v", err)
						assert.Check(t, time.Since(began) == time.Second, "%v", time.Since(began))
					})
				}
				wg.Wait()
			})
		})
	}
	t.Run("a shard that waits for others to join", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ln := memnet.Listen()
			defer ln.Close()
			began := time.Now()
			var wg sync.WaitGroup
			for i := range 2 { // of three
				wg.Go(func() {
					ctx, cancel := context.WithCancelCause(context.Background())
					defer cancel(nil)
					if i == 1 {
						time.AfterFunc(time.Second, func() { cancel(errors.New("interrupted")) })
					}
					_, err := Join(ctx, options(ln, i, 3))
					assert.Check(t, err != nil && strings.Contains(err.Error(), "shard 1 (machine 1): interrupted"), "%v", err)
					assert.Check(t, time.Since(began) < 3*time.Second, "%v", time.Since(began))
				})
			}
			wg.Wait()
		})
	})
}

// A mute is a connection that loses everything that is written to it from some instant on, and from which
// nothing more is read, like a network that has been cut.
type mute struct {
	net.Conn
	cut chan struct{}
}

func (m mute) Write(p []byte) (int, error) {
	select {
	case <-m.cut:
		return len(p), nil
	default:
		return m.Conn.Write(p)
	}
}

// TestSilent cuts the connection of one shard without a sign, or stops the shard, during a pass. The others
// must notice this within the time of silence.
func TestSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := make(chan struct{})
		mutes := func(o *Options) {
			if o.Index == 2 {
				dial := o.Dial
				o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
					c, err := dial(ctx, addr)
					return mute{c, cut}, err
				}
			}
		}
		errs := each(4, mutes, func(g *Group) error {
			if g.Index == 2 {
				time.Sleep(time.Hour)
				close(cut)
				<-g.Context().Done()
				return nil
			}
			_, err := g.Gather("ended", nil, func(int, []byte) error { return nil })
			if g.Index == 0 {
				return err
			}
			_, err = g.Share("verdict", nil) // after an hour with nothing but beats
			return err
		})
		for _, i := range []int{0, 1, 3} {
			assert.Error(t, errs[i], "cannot judge: shard 2 (machine 2) is lost: nothing heard for 10s", "shard %d", i)
		}
	})
}

// TestRefused checks that processes that do not fit into the group are refused and named.
func TestRefused(t *testing.T) {
	t.Run("wrong token", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var log []string
			errs := each(3, func(o *Options) {
				if o.Index == 2 {
					o.Token = "another token of somebody"
				}
				if o.Index == 0 {
					o.Log = func(text string) { log = append(log, text) }
				}
			}, func(g *Group) error { return nil })
			told := "refused a process from pipe: its LLMBENCH_RENDEZVOUS_TOKEN is not that of shard 0"
			assert.Error(t, errs[0], "cannot judge: shard 0 (machine 0) at mem:1: missing shards: 2; "+told+": not within LLMBENCH_RENDEZVOUS_TIMEOUT=1m0s")
			assert.Error(t, errs[2], "cannot judge: shard 2 (machine 2) is refused by mem:1: its LLMBENCH_RENDEZVOUS_TOKEN is not that of shard 0")
			assert.Error(t, errs[1], errs[0].Error())
			assert.DeepEqual(t, log, []string{told + `; its name, which is not verified: "machine 2"`})
		})
	})
	t.Run("a listener without the token", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ln := memnet.Listen()
			defer ln.Close()
			go func() {
				c, _ := ln.Accept()
				readKind(c, kindHello)
				writeFrame(c, frame{kindNonce, nonce()})
				readKind(c, kindProof)
				writeJSON(c, kindWelcome, welcome{MAC: nonce()})
			}()
			_, err := Join(context.Background(), options(ln, 1, 2))
			assert.Error(t, err, "cannot judge: shard 1 (machine 1) is refused by mem:1: the process that listens there does not know LLMBENCH_RENDEZVOUS_TOKEN")
		})
	})
	for _, test := range []struct {
		name, want string
		change     func(*Options)
	}{
		{"another binary", "binary: abc in shard 0 (machine 0), xyz in shard 2 (machine 2)", func(o *Options) { o.Facts = []Fact{{"binary", "xyz"}, {"seed", "1"}} }},
		{"another seed", "seed: 1 in shard 0 (machine 0), none in shard 2 (machine 2); more: none in shard 0 (machine 0), 7 in shard 2 (machine 2)",
			func(o *Options) { o.Facts = []Fact{{"binary", "abc"}, {"more", "7"}} }},
		{"another number of shards", "shard 2 (machine 2) is 2 of 4 shards: want 1 to 2 of 3", func(o *Options) { o.Count = 4 }},
		{"a shard twice", "shard 1 (machine 2) has already joined: want another LLMBENCH_SHARD in each process", func(o *Options) { o.Index = 1; o.Timeout = time.Second }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				errs := each(3, func(o *Options) {
					if o.Index == 2 {
						time.Sleep(time.Second)
						test.change(o)
					}
				}, func(g *Group) error { <-g.Context().Done(); return g.Err() })
				assert.Error(t, errs[0], "cannot judge: "+test.want)
				assert.ErrorContains(t, errs[2], test.want)
				assert.Error(t, errs[1], errs[0].Error())
			})
		})
	}
}

// TestForgery checks that a process without the token can print neither lines nor codes of a terminal where shard
// 0 prints, and nothing at all in an error, which benchgate prints on standard output.
func TestForgery(t *testing.T) {
	forged := "\r\x1b[2K\u202e\nBenchmarkChat-8 1 1 ns/op\nPASS\n" + strings.Repeat("x", 60_000)
	printable := func(text string) bool {
		return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	}
	t.Run("a dialer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var log []string
			errs := each(2, func(o *Options) {
				if o.Log = func(text string) { log = append(log, text) }; o.Index == 1 {
					o.Token, o.Name = "another token of somebody", forged
				}
			}, func(g *Group) error { return nil })
			assert.Error(t, errs[0], "cannot judge: shard 0 (machine 0) at mem:1: missing shards: 1; refused a process from pipe: its LLMBENCH_RENDEZVOUS_TOKEN is not that of shard 0: not within LLMBENCH_RENDEZVOUS_TIMEOUT=1m0s")
			assert.Equal(t, len(log), 1)
			assert.Assert(t, printable(log[0]) && len(log[0]) < 300, "%q", log[0])
			assert.Assert(t, strings.HasSuffix(log[0], `; its name, which is not verified: "\r\x1b[2K\u202e\nBenchmarkChat-8 1 1 ns/op\nPASS\n`+strings.Repeat("x", 24)+`…"`), log[0])
		})
	})
	t.Run("a dialer that refuses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ln := memnet.Listen()
			defer ln.Close()
			go func() {
				c, err := ln.Dial(context.Background(), "", "")
				assert.Check(t, err == nil)
				writeFrame(c, frame{kindHello, append([]byte(protocol), nonce()...)})
				readKind(c, kindNonce)
				writeFrame(c, frame{kindRefused, []byte(forged)})
			}()
			var log []string
			o := options(ln, 0, 2)
			o.Log = func(text string) { log = append(log, text) }
			_, err := Join(context.Background(), o)
			assert.DeepEqual(t, log, []string{"refused a process from pipe: " + errStranger.Error()})
			assert.Assert(t, printable(err.Error()), "%q", err)
		})
	})
	for reason, want := range map[string]string{
		forged:           `"\r\x1b[2K\u202e\nBenchmarkChat-8 1 1 ns/op`,
		"\x9b2K":         `"\x9b2K"`, // a code of terminals with eight bits
		"seed: 1, not ½": "seed: 1, not ½",
	} {
		t.Run("a listener that refuses", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := memnet.Listen()
				defer ln.Close()
				go func() {
					c, _ := ln.Accept()
					readKind(c, kindHello)
					writeFrame(c, frame{kindRefused, []byte(reason)})
				}()
				_, err := Join(context.Background(), options(ln, 1, 2))
				assert.Assert(t, printable(err.Error()) && utf8.ValidString(err.Error()) && len(err.Error()) < 3000, "%q", err)
				assert.Assert(t, strings.HasPrefix(err.Error(), "cannot judge: shard 1 (machine 1) is refused by mem:1: "+want), "%q", err)
			})
		})
	}
}

// TestStrangers checks that processes that use another protocol, or send nothing, neither join nor prevent
// the shards from joining.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := memnet.Listen()
		defer ln.Close()
		var mu sync.Mutex
		var log []string
		var wg sync.WaitGroup
		wg.Go(func() {
			o := options(ln, 0, 2)
			o.Log = func(text string) { mu.Lock(); defer mu.Unlock(); log = append(log, text) }
			g, err := Join(context.Background(), o)
			assert.Check(t, err == nil, "%v", err)
			g.Finish(0)
			g.Close()
		})
		for _, speaks := range []string{"GET / HTTP/1.1\r\n\r\n", "", string(appendFrame(nil, frame{kindHello, []byte("llmbench shards 0\n")})), "\xff\xff\xff\xff\xff\xff"} {
			c, err := ln.Dial(context.Background(), "", "")
			assert.NilError(t, err)
			wg.Go(func() {
				c.Write([]byte(speaks))
				readFrame(c, maxGreeting)
				c.Close()
			})
		}
		time.Sleep(20 * time.Second)
		wg.Go(func() {
			g, err := Join(context.Background(), options(ln, 1, 2))
			assert.Check(t, err == nil, "%v", err)
			g.Finish(0)
			g.Close()
		})
		wg.Wait()
		assert.Equal(t, len(log), 4, "%q", log)
		for _, text := range log {
			assert.Equal(t, text, "refused a process from pipe: "+errStranger.Error())
		}
	})
}

// TestLateNode checks that shards wait for a shard whose machine starts minutes later, if the limit is long
// enough. Otherwise the error must name the variable that sets the limit.
func TestLateNode(t *testing.T) {
	for limit, want := range map[time.Duration]string{
		15 * time.Minute: "",
		2 * time.Minute:  "cannot judge: shard 0 (machine 0) at mem:1: missing shards: 2: not within LLMBENCH_RENDEZVOUS_TIMEOUT=2m0s",
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			starts := func(o *Options) {
				o.Timeout = limit
				if o.Index == 2 {
					time.Sleep(4 * time.Minute)
				}
			}
			errs := each(3, starts, func(g *Group) error {
				waited := time.Since(began)
				assert.Check(t, waited >= 4*time.Minute, "shard %d went on after %v", g.Index, waited)
				_, err := g.Finish(0)
				return err
			})
			if want == "" {
				assert.DeepEqual(t, errs, make([]error, 3))
				return
			}
			assert.Error(t, errs[0], want)
			assert.Error(t, errs[1], want)                                                                    // it receives the reason
			assert.ErrorContains(t, errs[2], "shard 0 at mem:1: not within LLMBENCH_RENDEZVOUS_TIMEOUT=2m0s") // nobody answers when it dials
		})
	}
}

// TestNobody checks the errors of a shard that is alone.
func TestNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := memnet.Listen()
		_, err := Join(context.Background(), options(ln, 0, 4))
		assert.Error(t, err, "cannot judge: shard 0 (machine 0) at mem:1: missing shards: 1, 2, 3: not within LLMBENCH_RENDEZVOUS_TIMEOUT=1m0s")
		began := time.Now()
		_, err = Join(context.Background(), options(ln, 1, 4)) // the listener is closed
		assert.Error(t, err, "cannot judge: shard 1 (machine 1): shard 0 at mem:1: not within LLMBENCH_RENDEZVOUS_TIMEOUT=1m0s: use of closed network connection")
		assert.Equal(t, time.Since(began), time.Minute)
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("interrupted"))
		_, err = Join(ctx, options(ln, 1, 4))
		assert.Assert(t, strings.Contains(err.Error(), "interrupted"), "%v", err)
	})
}
