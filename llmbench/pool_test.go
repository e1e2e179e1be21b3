package llmbench

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestResponses sends two requests to servers that answer in ways of their own, and
// checks whether the connection of the first is used for the second.
func TestResponses(t *testing.T) {
	const (
		text = "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
		kind = "Content-Type: text/event-stream\r\n"
	)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(text))
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n", len(text), text)
	for _, tt := range []struct {
		name, answer string
		ends         bool // with the connection
		conns        int64
		want         sample.Outcome
		says         string
	}{
		{"of a length", "HTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text, false, 1, sample.OK, ""},
		{"in chunks", "HTTP/1.1 200 OK\r\n" + kind + chunked + "\r\n", false, 1, sample.OK, ""},
		{"a trailer", "HTTP/1.1 200 OK\r\n" + kind + chunked + "X-Time: 1\r\n\r\n", false, 1, sample.OK, ""},
		{"interim responses", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text, false, 1, sample.OK, ""},
		{"close", "HTTP/1.1 200 OK\r\nConnection: close\r\n" + kind + length + "\r\n" + text, true, 2, sample.OK, ""},
		{"close is said and not done", "HTTP/1.1 200 OK\r\nConnection: close\r\n" + kind + length + "\r\n" + text, false, 2, sample.OK, ""},
		{"to the end", "HTTP/1.1 200 OK\r\n" + kind + "\r\n" + text, true, 2, sample.OK, ""},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n" + kind + length + "\r\n" + text, false, 2, sample.OK, ""},
		{"more than was said", "HTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text + "more", false, 2, sample.OK, ""},
		{"cut off", "HTTP/1.1 200 OK\r\n" + kind + length + "\r\n" + text[:20], true, 2, sample.Truncated, "unexpected EOF"},
		{"nothing", "HTTP/1.1 204 No Content\r\n\r\n", false, 1, sample.Empty, ""},
		{"no such status", "HTTP/1.1 000 Odd\r\nContent-Length: 4\r\n\r\nlong", false, 1, sample.HTTP, "000 Odd: long"},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n", false, 2, sample.HTTP, "101"},
		{"no end of the head", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 1100), false, 2, sample.Malformed, "a response's head of more than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var conns atomic.Int64
			runtest.CheckLeaks(t)
			target, _ := asked(t, func(c net.Conn, before int) bool {
				if before == 0 {
					conns.Add(1)
				}
				io.WriteString(c, tt.answer)
				return !tt.ends
			})
			for _, s := range onePass(t, target, Load{Requests: words(2, 1), Concurrency: 1}) {
				assert.Equal(t, s.Outcome, tt.want, "%v", s.Err)
				assert.Equal(t, s.Resent, 0)
				if tt.says != "" {
					assert.ErrorContains(t, s.Err, tt.says)
				}
			}
			assert.Equal(t, conns.Load(), tt.conns)
		})
	}
}

// TestLargeRequest sends more than a connection holds to servers that take their time,
// that answer before they have read it, and that never read.
func TestLargeRequest(t *testing.T) {
	const size = 16 << 20
	const refusal = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlong"
	for _, tt := range []struct {
		name  string
		serve func(c net.Conn)
		want  sample.Outcome
	}{
		{"takes its time", func(c net.Conn) {
			time.Sleep(20 * ms)
			runtest.EachRequest(c, answerAlways)
		}, sample.OK},
		{"an interim answer before", func(c net.Conn) { after(c, "HTTP/1.1 103 Early Hints\r\n\r\n", reply200) }, sample.OK},
		{"a head before", func(c net.Conn) {
			after(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", func(c net.Conn) {
				fmt.Fprintf(c, "%x\r\n%s\r\n0\r\n\r\n", len(wholeAnswer), wholeAnswer)
			})
		}, sample.OK},
		{"an answer before, and it reads no more", func(c net.Conn) {
			bufio.NewReaderSize(c, 16).ReadString('\n')
			reply200(c)
			io.Copy(io.Discard, io.LimitReader(c, 1)) // until the client closes it, but for a byte
			time.Sleep(20 * ms)
		}, sample.OK},
		{"answers before", func(c net.Conn) {
			bufio.NewReaderSize(c, 16).ReadString('\n')
			io.WriteString(c, refusal)
		}, sample.HTTP},
		{"answers before, and stays", func(c net.Conn) {
			bufio.NewReaderSize(c, 16).ReadString('\n')
			io.WriteString(c, refusal)
			time.Sleep(400 * ms)
		}, sample.HTTP},
		{"never reads", func(c net.Conn) {
			time.Sleep(400 * ms)
		}, sample.Timeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtest.CheckLeaks(t)
			samples := onePass(t, Target{URL: rawServer(t, tt.serve)}, Load{
				Requests:    []Request{{Prompt: strings.Repeat("a", size), MaxTokens: 3}},
				Concurrency: 1,
				Timeout:     map[bool]time.Duration{true: 200 * ms, false: 20 * time.Second}[tt.want == sample.Timeout],
			})
			assert.Equal(t, samples[0].Outcome, tt.want, "%v", samples[0].Err)
		})
	}
}

const wholeAnswer = content + finish + done

func reply200(c net.Conn) {
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(wholeAnswer), wholeAnswer)
}

// TestHangUps checks which requests are sent again, on a server that hangs up after
// 50 ms: those on a connection that was used before, once, and their time counts from
// when they were sent first.
func TestHangUps(t *testing.T) {
	for _, tt := range []struct {
		name     string
		answers  int // on a connection, before it hangs up
		want     sample.Outcome
		requests int
	}{
		{"on the first request of a connection", 0, sample.Connect, 10},
		{"on the second one", 1, sample.OK, 10 + 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target, requests := asked(t, func(c net.Conn, before int) bool {
				if before < tt.answers {
					reply200(c)
					return true
				}
				<-time.After(50 * ms)
				return false
			})
			c, l, posts, err := ready(target, Load{Requests: words(10, 1), Concurrency: 5})
			assert.NilError(t, err)
			defer c.close()
			samples, err := sendPass(t.Context(), c, l, posts)
			assert.NilError(t, err)
			again := 0
			for _, s := range samples {
				assert.Equal(t, s.Outcome, tt.want, "%v", s.Err)
				if again += s.Resent; s.Resent > 0 {
					ttft, _ := s.TTFT()
					assert.Assert(t, ttft >= 50*ms, "a request that was sent twice has a TTFT of %v", ttft)
				}
			}
			assert.Equal(t, requests(), tt.requests)
			assert.Equal(t, again, tt.requests-10)
		})
	}
}

// after reads the head of a request, says early, and when it has read the body the rest.
func after(c net.Conn, early string, rest func(net.Conn)) {
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
