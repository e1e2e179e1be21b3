package scenarios

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// virtual runs f in virtual time, with a simulated server.
func virtual(t *testing.T, cfg mockserver.Config, f func(t *testing.T, target llmbench.Target)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(cfg)
		assert.NilError(t, err)
		ln := memnet.Listen()
		h := &http.Server{Handler: srv}
		var wg sync.WaitGroup
		wg.Go(func() { h.Serve(ln) })
		defer func() { h.Close(); wg.Wait() }()
		f(t, llmbench.Target{URL: "http://mem", Model: "mock", Dial: ln.Dial, Simulated: true})
	})
}
