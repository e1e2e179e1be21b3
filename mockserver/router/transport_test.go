package router_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// TestKeptConnection sends three requests to servers that end connections. A request that ended a kept connection
// without an answer is sent again, and no other one is: not on a new connection, and not if an answer has begun.
func TestKeptConnection(t *testing.T) {
	const whole, part = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nConte"
	for _, tt := range []struct {
		name    string
		answers []string // to the requests of a connection, which then ends; "" is none
		reset   bool     // it ends with a reset
		want    []int    // statuses
		arrived []int    // the connection of each request that arrived, by number
	}{
		{"after an answer", []string{whole}, false, []int{200, 200, 200}, []int{1, 2, 3}},
		{"at the second request", []string{whole, ""}, false, []int{200, 200, 200}, []int{1, 1, 2, 3}},
		{"at the second request, by a reset", []string{whole, ""}, true, []int{200, 200, 200}, []int{1, 1, 2, 3}},
		{"at once", []string{""}, false, []int{502, 502, 502}, []int{1, 2, 3}},
		{"within the second answer", []string{whole, part}, false, []int{200, 502, 200}, []int{1, 1, 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			assert.NilError(t, err)
			var mu sync.Mutex
			var arrived []int
			var open []net.Conn
			var wg sync.WaitGroup
			wg.Go(func() {
				for number := 1; ; number++ {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					mu.Lock()
					open = append(open, conn)
					mu.Unlock()
					wg.Go(func() {
						defer conn.Close()
						in := bufio.NewReader(conn)
						for _, answer := range tt.answers {
							req, err := http.ReadRequest(in)
							if err != nil {
								return
							}
							io.Copy(io.Discard, req.Body)
							mu.Lock()
							arrived = append(arrived, number)
							mu.Unlock()
							io.WriteString(conn, answer)
						}
						if tt.reset {
							conn.(*net.TCPConn).SetLinger(0)
						}
					})
				}
			})
			r, err := router.New(&router.RoundRobin{}, "http://"+l.Addr().String())
			assert.NilError(t, err)
			front := httptest.NewServer(r)
			defer front.Close()
			for _, want := range tt.want {
				status, err := post(t, front.URL, `{"prompt":"a","max_tokens":1}`)
				assert.NilError(t, err)
				assert.Equal(t, status, want)
			}
			l.Close()
			mu.Lock()
			defer wg.Wait()
			defer mu.Unlock()
			for _, conn := range open {
				conn.Close()
			}
			assert.DeepEqual(t, arrived, tt.arrived)
		})
	}
}
