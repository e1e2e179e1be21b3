package mockserver

import (
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// A slowConn stops the server for a time after each write.
type slowConn struct {
	net.Conn
	took time.Duration
}

func (c slowConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	time.Sleep(c.took)
	return n, err
}

// A slowListener accepts slowConns.
type slowListener struct {
	net.Listener
	took time.Duration
}

func (l slowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return slowConn{c, l.took}, err
}

// TestSlowWrites checks that the log has the duration of each slow write of tokens. A slow write
// without tokens must not be logged as a write of the token before it.
func TestSlowWrites(t *testing.T) {
	slow := []SlowWrite{{0, slowWrite}, {1, slowWrite}, {2, slowWrite}}
	for _, tt := range []struct {
		took  time.Duration
		shape shape.Shape
		want  []SlowWrite
	}{
		{slowWrite - 1, shape.Shape{}, nil},
		{slowWrite, shape.Shape{}, slow},
		{slowWrite, shape.Shape{RoleFirst: true, EmptyChoices: true, FinishAlone: true}, slow},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := mustNew(t, Config{TTFT: time.Millisecond, PerToken: time.Millisecond, Shape: tt.shape})
			ln := memnet.Listen()
			stop := serve(slowListener{ln, tt.took}, s)
			tr := &http.Transport{DialContext: ln.Dial}
			defer stop(0)
			defer tr.CloseIdleConnections()
			r := &rig{s, t, &http.Client{Transport: tr}, "http://mock", stop}
			status, _, err := r.read(chatPath, `{"model":"mock","stream":true,"max_tokens":3,"messages":[{"role":"user","content":"a b"}]}`)
			if err != nil || status != http.StatusOK {
				t.Fatalf("status %d, error %v; want 200", status, err)
			}
			synctest.Wait()
			time.Sleep(time.Second) // the last write ends later than the client has its bytes
			if diff := cmp.Diff(tt.want, s.Log()[0].SlowWrites); diff != "" {
				t.Errorf("slow writes (-want +got):\n%s", diff)
			}
		})
	}
}
