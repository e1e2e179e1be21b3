package probe

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		absent := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.ENOENT)}
		var r Refusals
		for i, c := range []struct {
			err     error
			lasted  time.Duration
			refused bool
		}{
			{refusal, 0, true}, {refusal, time.Second, true}, {absent, 2 * time.Second, true},
			{errors.New("status 503"), 0, false}, {refusal, 0, true}, {refusal, time.Second, true},
		} {
			lasted, refused := r.Failed(c.err)
			assert.Equal(t, lasted, c.lasted, "%d", i)
			assert.Equal(t, refused, c.refused, "%d", i)
			time.Sleep(time.Second)
		}
	})
}
