// Package runtest has helpers for the tests of several packages: servers that control each byte that they
// send, waits for events, a terminal, and a check for leaks.
package runtest

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
	"gotest.tools/v3/assert"
)

// patience is how long a test waits for an event before it fails. It is far longer than any event takes,
// even on a busy machine.
const patience = time.Minute

// Until waits until done returns true. It calls done every millisecond. After a minute it fails tb; the
// argument what says what did not happen.
func Until(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		if time.Now().After(deadline) {
			tb.Fatalf("not within %v: %s", patience, what)
		}
		<-tick.C
	}
}

// Serve listens on a loopback socket until tb ends. It calls serve with each connection,
// and closes the connection afterwards. It returns the listener's host:port.
func Serve(tb testing.TB, serve func(net.Conn)) (addr string) {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(tb, err)
	tb.Cleanup(Accept(ln, serve))
	return ln.Addr().String()
}

// The ports that FreeAddr returns are below those that Linux, macOS and Windows choose for
// connections and for listeners at port 0. Otherwise a connection or another test could
// take a port before the server of the test listens.
const (
	firstPort = 10000
	lastPort  = 32767
)

// FreeAddr tries firstOffset and the offsets that follow. The first one is random, since tests of
// other packages run at the same time.
var (
	firstOffset = rand.Uint32N(lastPort - firstPort + 1)
	tried       atomic.Uint32
)

// FreeAddr returns a host:port on loopback at which nothing listens, for a process that the
// test starts. It never returns the same port twice before it has tried all others.
func FreeAddr(tb testing.TB) (addr string) {
	tb.Helper()
	for range 100 {
		port := firstPort + (firstOffset+tried.Add(1))%(lastPort-firstPort+1)
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
		if err == nil {
			assert.NilError(tb, ln.Close())
			return ln.Addr().String()
		}
	}
	tb.Fatal("100 ports are taken")
	return ""
}

// Accept calls serve with each connection of ln, and closes the connection afterwards. The
// function stop closes ln and waits until every call of serve has returned.
func Accept(ln net.Listener, serve func(net.Conn)) (stop func()) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	return func() { ln.Close(); wg.Wait() }
}

// EachRequest reads the requests of a connection. After each request it calls answer with the number of
// earlier requests. It returns when answer returns false, or when the connection ends.
func EachRequest(c net.Conn, answer func(c net.Conn, before int) bool) {
	r := bufio.NewReader(c)
	for before := 0; ; before++ {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		io.Copy(io.Discard, req.Body)
		if !answer(c, before) {
			return
		}
	}
}

// CheckLeaks checks, when t and its subtests have ended, that the process does not have more goroutines and
// sockets than when CheckLeaks was called.
func CheckLeaks(t *testing.T) {
	goroutines, sockets := runtime.NumGoroutine(), countSockets()
	t.Cleanup(func() {
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			g, s := runtime.NumGoroutine(), countSockets()
			if g <= goroutines && s <= sockets {
				return
			}
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				stacks = stacks[:runtime.Stack(stacks, true)]
				t.Fatalf("%d goroutines and %d sockets; there were %d and %d before:\n%s", g, s, goroutines, sockets, stacks)
			}
		}
	})
}

// countSockets counts the open sockets of this process, on systems with /proc.
func countSockets() (n int) {
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// AtTerminal runs a command whose standard error is a terminal with the given number of columns. It returns
// the standard output, what the terminal shows, and the error of the command. It skips tb if the system has
// no pseudo-terminals.
func AtTerminal(tb testing.TB, cmd *exec.Cmd, columns uint16) (stdout, screen string, err error) {
	tb.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		tb.Skipf("no pseudo-terminal: %v", err)
	}
	defer master.Close()
	assert.NilError(tb, pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: columns}))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, tty
	assert.NilError(tb, cmd.Start())
	tty.Close()
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // returns an error when no process has the terminal open
		shown <- string(text)
	}()
	err = cmd.Wait()
	return out.String(), strings.ReplaceAll(<-shown, "\r\n", "\n"), err
}
