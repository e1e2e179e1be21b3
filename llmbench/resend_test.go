package llmbench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestResponses sends two requests to servers with unusual responses, and checks whether the second request
// reuses the connection of the first.
func TestResponses(t *testing.T) {
	const (
		text = "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
		kind = "Content-Type: text/event-stream\r\n"
	)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(text))
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n", len(text), text)
	for _, tt := range []struct {
		name, answer string
		ends         bool // the server closes the connection after the answer
		conns        int64
		want         sample.Outcome
		text         string // text in the error
	}{
		{"known length", "HTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text, false, 1, sample.OK, ""},
		{"chunks", "HTTP/1.1 200 OK\r\n" + kind + chunked + "\r\n", false, 1, sample.OK, ""},
		{"chunks and a trailer", "HTTP/1.1 200 OK\r\n" + kind + chunked + "X-Time: 1\r\n\r\n", false, 1, sample.OK, ""},
		{"interim responses", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text, false, 1, sample.OK, ""},
		{"close", "HTTP/1.1 200 OK\r\nConnection: close\r\n" + kind + length + "\r\n" + text, true, 2, sample.OK, ""},
		{"close announced but not done", "HTTP/1.1 200 OK\r\nConnection: close\r\n" + kind + length + "\r\n" + text, false, 2, sample.OK, ""},
		{"length by the end of the connection", "HTTP/1.1 200 OK\r\n" + kind + "\r\n" + text, true, 2, sample.OK, ""},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n" + kind + length + "\r\n" + text, false, 2, sample.OK, ""},
		{"more than the announced length", "HTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text + "more", false, 2, sample.OK, ""},
		{"cut off", "HTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text[:20], true, 2, sample.Truncated, "unexpected EOF"},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", false, 1, sample.Empty, ""},
		{"invalid status", "HTTP/1.1 000 Odd\r\nContent-Length: 4\r\n\r\nlong", false, 1, sample.HTTP, "000 Odd: long"},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n", false, 2, sample.HTTP, "101"},
		{"endless head", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 1100), false, 2, sample.Malformed, "a response's head of more than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var conns atomic.Int64
			runtest.CheckLeaks(t)
			target, _ := countingServer(t, func(c net.Conn, before int) bool {
				if before == 0 {
					conns.Add(1)
				}
				io.WriteString(c, tt.answer)
				return !tt.ends
			})
			for _, s := range onePass(t, target, Load{Requests: words(2, 1), Concurrency: 1}) {
				assert.Equal(t, s.Outcome, tt.want, "%v", s.Err)
				assert.Equal(t, s.Resent, 0)
				if tt.text != "" {
					assert.ErrorContains(t, s.Err, tt.text)
				}
			}
			assert.Equal(t, conns.Load(), tt.conns)
		})
	}
}

// TestAnswerToNothing checks that a pass fails if the server sends a second answer after each answer, at
// once or a little later. An answer may then have been taken for the answer to another request.
func TestAnswerToNothing(t *testing.T) {
	for _, later := range []time.Duration{0, 150 * time.Microsecond, 5 * ms} {
		t.Run(later.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target, stop := rawInMemory(func(c net.Conn) {
					runtest.EachRequest(c, func(c net.Conn, _ int) bool {
						time.Sleep(10 * ms)
						reply200(c)
						time.Sleep(later)
						reply200(c)
						return true
					})
				})
				defer stop()
				_, err := tryPass(t, t.Context(), target, Load{Requests: words(10, 3), Concurrency: 2, MaxFail: 1}) // requests without an answer do not end it
				assert.ErrorContains(t, err, "the server sent answers that no request asked for, on ")
			})
		})
	}
}

// TestLargeRequest sends a request that is too large for the buffers of a connection. One server reads it
// slowly, one answers before it has read all of it, and one never reads it.
func TestLargeRequest(t *testing.T) {
	const refusal = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlong"
	readLine := func(c net.Conn) { bufio.NewReaderSize(c, 16).ReadString('\n') }
	for _, tt := range []struct {
		name  string
		serve func(c net.Conn)
		want  sample.Outcome
	}{
		{"reads late", func(c net.Conn) {
			time.Sleep(20 * ms)
			runtest.EachRequest(c, answerAlways)
		}, sample.OK},
		{"interim response before the body", func(c net.Conn) {
			answerEarly(c, "HTTP/1.1 103 Early Hints\r\n\r\n", reply200)
		}, sample.OK},
		{"head before the body", func(c net.Conn) {
			answerEarly(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", func(c net.Conn) {
				fmt.Fprintf(c, "%x\r\n%s\r\n0\r\n\r\n", len(wholeAnswer), wholeAnswer)
			})
		}, sample.OK},
		{"whole answer, and reads no more", func(c net.Conn) {
			readLine(c)
			reply200(c)
			time.Sleep(20 * ms)
		}, sample.OK},
		{"refusal, and closes", func(c net.Conn) {
			readLine(c)
			io.WriteString(c, refusal)
		}, sample.HTTP},
		{"refusal, and stays", func(c net.Conn) {
			readLine(c)
			io.WriteString(c, refusal)
			time.Sleep(400 * ms)
		}, sample.HTTP},
		{"never reads", func(c net.Conn) { time.Sleep(400 * ms) }, sample.Timeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target, stop := rawInMemory(tt.serve)
				defer stop()
				samples := onePass(t, target, Load{
					Requests:    []Request{{Prompt: strings.Repeat("a", 1<<20), MaxTokens: 3}},
					Concurrency: 1,
					Timeout:     200 * ms,
				})
				assert.Equal(t, samples[0].Outcome, tt.want, "%v", samples[0].Err)
			})
		})
	}
}

// answerEarly reads the head of a request and writes early. When it has read the whole body, it calls rest.
func answerEarly(c net.Conn, early string, rest func(net.Conn)) {
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	io.WriteString(c, early)
	time.Sleep(20 * ms)
	if n, err := io.Copy(io.Discard, req.Body); err == nil && n == req.ContentLength {
		rest(c)
	}
}

const wholeAnswer = content + finish + done

func reply200(c net.Conn) {
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(wholeAnswer), wholeAnswer)
}

// An idleConn always seems to be idle, like a connection that the peer has closed but whose FIN has not
// arrived yet.
type idleConn struct{ net.Conn }

// Pending reports that the connection is idle.
func (idleConn) Pending() (bool, error) { return false, nil }

// TestResend checks which requests are sent again if the server closes connections, and that the latency of
// such a request counts from its first send. A request that the server has worked on is a failure and is
// not sent again. Once the client knows that the server closes connections after its answers, it sends no
// request on a connection that may be closing.
func TestResend(t *testing.T) {
	for _, tt := range []struct {
		name                     string
		answers                  int           // answers on each connection
		reads                    bool          // the server reads another request before it closes the connection
		work                     time.Duration // how long the server works on that request
		outcomes                 string
		received, resent, unread int
	}{
		{"first request of a connection", 0, true, 50 * ms, "connect 10", 10, 0, 0},
		{"second request of a connection, at once", 1, true, 0, "ok 10", 11, 1, 1},
		{"before the second request of a connection", 1, false, 0, "ok 10", 10, 1, 0},
		{"second request of a connection, after work", 1, true, 300 * ms, "connect 5, ok 5", 10, 0, 0},
		{"fifth request of a connection, at once", 4, true, 0, "ok 10", 12, 2, 2},
		{"before the fifth request of a connection", 4, false, 0, "ok 10", 10, 2, 0},
		{"fifth request of a connection, after work", 4, true, 300 * ms, "connect 2, ok 8", 10, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				received := 0
				target, stop := rawInMemory(func(c net.Conn) {
					runtest.EachRequest(c, func(c net.Conn, before int) bool {
						received++
						if before < tt.answers {
							reply200(c)
							return before+1 < tt.answers || tt.reads
						}
						time.Sleep(tt.work)
						return false
					})
				})
				defer stop()
				dial := target.Dial
				target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					time.Sleep(50 * ms)
					c, err := dial(ctx, network, addr)
					return idleConn{c}, err
				}
				outcomes, resent, unread := map[sample.Outcome]int{}, 0, 0
				for _, s := range onePass(t, target, Load{Requests: words(10, 1), Concurrency: 1}) {
					outcomes[s.Outcome]++
					resent += s.Resent
					if s.Resent > 0 {
						ttft, _ := s.TTFT()
						assert.Equal(t, ttft, 50*ms, "a request that was sent twice")
						assert.Equal(t, s.Connect, 50*ms)
					}
					if s.ResentUnread {
						assert.Equal(t, s.Resent, 1)
						unread++
					}
				}
				assert.Equal(t, tallied(outcomes), tt.outcomes)
				assert.Equal(t, received, tt.received)
				assert.Equal(t, resent, tt.resent)
				assert.Equal(t, unread, tt.unread)
			})
		})
	}
}

// TestReuse checks which connections are reused, on servers that answer each request once, and on servers
// that answer the first request of a connection twice. The second answer, which no request asked for, must
// not be taken for the answer to the next request.
func TestReuse(t *testing.T) {
	for _, tt := range []struct {
		name   string
		hidden bool // the client cannot see whether bytes wait to be read
		twice  bool
		conns  int64 // for three requests
	}{
		{"visible, one answer", false, false, 1},
		{"visible, two answers", false, true, 3},
		{"hidden, one answer", true, false, 3},
		{"hidden, two answers", true, true, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var conns atomic.Int64
				target, stop := rawInMemory(func(c net.Conn) {
					conns.Add(1)
					runtest.EachRequest(c, func(c net.Conn, _ int) bool {
						time.Sleep(300 * ms)
						reply200(c)
						if tt.twice {
							reply200(c)
						}
						return true
					})
				})
				defer stop()
				if dial := target.Dial; tt.hidden {
					target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
						c, err := dial(ctx, network, addr)
						return struct{ net.Conn }{c}, err
					}
				}
				c, l, pl, err := prepared(target, Load{Requests: words(1, 1), Concurrency: 1})
				assert.NilError(t, err)
				defer c.Close()
				w := testWorker(c, l)
				for i := range 3 {
					s := w.Do(t.Context(), pl.build(0), 0, false)
					assert.NilError(t, s.Err)
					ttft, _ := s.TTFT()
					assert.Equal(t, ttft, 300*ms, "request %d", i)
					synctest.Wait() // the server writes its second answer, if any
				}
				assert.Equal(t, conns.Load(), tt.conns)
			})
		})
	}
}

// tallied formats counts by outcome, sorted by name, like "connect 1, ok 9".
func tallied(counts map[sample.Outcome]int) string {
	var parts []string
	for _, o := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", o, counts[o]))
	}
	return strings.Join(parts, ", ")
}
