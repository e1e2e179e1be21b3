package probe

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// TestWatch checks when a Watch reports a wait.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		w := NewWatch(func(waited time.Duration, last error) {
			told = append(told, fmt.Sprint(waited, " ", Reason(last)))
		})
		time.Sleep(10 * time.Second)
		w.Attempt(nil)
		w.Attempt(errors.New("refused"))
		time.Sleep(11 * time.Second)
		w.Attempt(nil)
		time.Sleep(10 * time.Second)
		w.Attempt(errors.New("status 503"))
		time.Sleep(9 * time.Second)
		w.Attempt(nil)
		time.Sleep(time.Second)
		w.Stop()
		time.Sleep(time.Minute)
		w.Stop()
		assert.DeepEqual(t, told, []string{"900ms no answer yet", "10.9s refused", "20.9s refused", "30.9s no answer in 9.9s", "40.9s status 503"})
	})
}

func TestReason(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for want, err := range map[string]error{
		"no answer yet":      nil,
		"connection refused": &url.Error{Op: "Get", URL: "http://host/?key=secret", Err: refused},
		"EOF":                &url.Error{Op: "Get", URL: "http://host/?key=secret", Err: errors.New("EOF")},
		"loading":            errors.New("loading"),
	} {
		assert.Equal(t, Reason(err), want)
	}
}
