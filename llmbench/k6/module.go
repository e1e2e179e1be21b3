package k6

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/grafana/sobek"
	"github.com/sirupsen/logrus"
	"go.k6.io/k6/v2/errext"
	"go.k6.io/k6/v2/errext/exitcodes"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// name is the module path that scripts import.
const name = "k6/x/llmbench"

func init() { modules.Register(name, &root{}) }

// root is the extension, which all VUs share. VUs whose clients have the same options share one
// llmbench.Client, and so its connections and its file of records.
type root struct {
	watch sync.Once

	mu      sync.Mutex
	clients map[[sha256.Size]byte]*llmbench.Client
	ended   bool // the test has ended
}

// An instance is the extension in one VU.
type instance struct {
	root    *root
	vu      modules.VU
	metrics *figures
}

// NewModuleInstance registers the metrics, and returns the extension's instance for a VU.
func (r *root) NewModuleInstance(vu modules.VU) modules.Instance {
	m, err := newFigures(vu.InitEnv().Registry)
	if err != nil { // the script uses a name of these metrics with another type
		common.Throw(vu.Runtime(), fmt.Errorf("%s: %w", name, err))
	}
	r.watch.Do(func() { r.closeAtExit(vu.Events(), vu.InitEnv().Logger) })
	return &instance{root: r, vu: vu, metrics: m}
}

// Exports returns what scripts can import from the extension.
func (i *instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"Client": i.newClient}}
}

// newClient is the constructor of the JavaScript class Client.
func (i *instance) newClient(call sobek.ConstructorCall) *sobek.Object {
	rt := i.vu.Runtime()
	o, err := readOptions(rt, call.Argument(0))
	if err != nil {
		common.Throw(rt, fmt.Errorf("%s: Client: %w", name, err))
	}
	c := &client{instance: i, options: o}
	object := rt.NewObject()
	for method, send := range map[string]func(sobek.Value) (*sobek.Object, error){"chat": c.chat, "completion": c.completion} {
		throws := func(call sobek.FunctionCall) sobek.Value {
			result, err := send(call.Argument(0))
			if err != nil {
				common.Throw(rt, fmt.Errorf("%s: %s: %w", name, method, err))
			}
			return result
		}
		if err := object.Set(method, throws); err != nil {
			common.Throw(rt, err)
		}
	}
	return object
}

// mostAhead is the maximum number of connections that a client opens ahead of requests.
const mostAhead = 1000

// open returns the client with the given key. If there is none yet, open creates it and opens one
// connection per VU, up to mostAhead. All VUs wait meanwhile. If many VUs opened connections at the same
// moment instead, the first requests would be slow.
func (r *root) open(ctx context.Context, vus int, key [sha256.Size]byte, benchmark string, t llmbench.Target, l llmbench.Load) (*llmbench.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.clients[key]; ok {
		return c, nil
	}
	if r.ended {
		return nil, errors.New("the test has ended")
	}
	c, err := llmbench.NewClient(benchmark, t, l)
	if err != nil {
		return nil, err
	}
	if r.clients == nil {
		r.clients = map[[sha256.Size]byte]*llmbench.Client{}
	}
	r.clients[key] = c
	c.Open(ctx, min(vus, mostAhead))
	return c, nil
}

// close closes all clients and ends their records. If why is not nil, the records say that the test failed,
// and why.
func (r *root) close(why error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	var errs []error
	for _, c := range r.clients {
		errs = append(errs, c.CloseWithError(why))
	}
	return errors.Join(errs...)
}

// The numbers of k6's global events, copied from its internal package event (k6 v2.2.0,
// internal/event/type.go). closeAtExit compares the names of events instead, so that it does not close the
// records too early if a release of k6 changes the numbers.
const (
	eventInit      = 1
	eventTestStart = 2
	eventTestEnd   = 3
	eventExit      = 6
)

// closeAtExit closes all clients when k6 is about to exit.
func (r *root) closeAtExit(events common.Events, log logrus.FieldLogger) {
	_, all := events.Global.Subscribe(eventInit, eventTestStart, eventTestEnd, eventExit)
	go func() {
		for e := range all {
			if e.Type.String() == "Exit" {
				if err := r.close(whyFailed(e.Data)); err != nil {
					log.WithError(err).Error(name)
				}
			}
			e.Done()
		}
	}()
}

// whyFailed returns why the metrics of a test are not a result, or nil if they are. They are not a result
// if the test was interrupted or aborted. They are a result if only a threshold was crossed at the end, or
// if the script marked the test as failed. The argument is the data of k6's exit event. Its type is
// internal to k6, and is a struct with the field Error.
func whyFailed(data any) error {
	v := reflect.Indirect(reflect.ValueOf(data))
	if v.Kind() != reflect.Struct || !v.FieldByName("Error").IsValid() {
		return errors.New("k6 does not say how the test ended")
	}
	err, _ := v.FieldByName("Error").Interface().(error)
	var aborted errext.HasAbortReason
	if errors.As(err, &aborted) && aborted.AbortReason() == errext.AbortedByThresholdsAfterTestEnd {
		return nil
	}
	var code errext.HasExitCode
	if errors.As(err, &code) && code.ExitCode() == exitcodes.MarkedAsFailed { // by the script
		return nil
	}
	return err
}
