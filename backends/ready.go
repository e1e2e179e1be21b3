package backends

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A stage is a part of a server's start.
type stage struct {
	name  string
	limit time.Duration
	do    func(ctx context.Context) error
}

// stages are the parts of the start, in their order. Each tells more than the
// one before: an open port is no healthy server, and a healthy one may have no
// model, or not be able to run it.
func (r *running) stages() []stage {
	d := r.spec.ready
	return []stage{
		{"image", d.Image, r.getImage},
		{"running", d.Running, r.getRunning},
		{"port", d.Port, r.getPort},
		{"health", d.Health, r.getHealth},
		{"setup", d.Setup, r.getSetup},
		{"model", d.Model, r.getModel},
		{"completion", d.Completion, r.getCompletion},
	}
}

// stage does one stage, within its deadline and for as long as the container
// runs.
func (r *running) stage(ctx context.Context, st stage) error {
	began := time.Now()
	errLate := fmt.Errorf("not within %v", st.limit)
	ctx, cancel := context.WithTimeoutCause(ctx, st.limit, errLate)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if r.box != nil {
		go func() {
			select {
			case <-r.box.Ended():
				fail(errors.New("the container ended"))
			case <-ctx.Done():
			}
		}()
	}
	err := st.do(ctx)
	if err == nil {
		r.logf("%s: %s: done after %v", r.spec.backend, st.name, time.Since(began).Round(time.Millisecond))
		return nil
	}
	r.waitEnd()
	switch cause := context.Cause(ctx); {
	case r.box != nil && isClosed(r.box.Ended()):
		err = errors.New(r.box.End().String())
	case cause == errLate:
		err = fmt.Errorf("%w: %w", errLate, err)
	case cause != nil:
		err = cause
	}
	return r.failed(st.name, err)
}

// endGrace is how long a container that seems to have failed has to end, so that
// its end and its last words can be told.
const endGrace = time.Second

func (r *running) waitEnd() {
	if r.box == nil {
		return
	}
	select {
	case <-r.box.Ended():
	case <-time.After(endGrace):
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// patterns holds the compiled expressions of known failures.
var patterns sync.Map

// matches reports whether a line of the log tells the failure.
func (k known) matches(line string, gpus devices) bool {
	if k.gpu && gpus.vendor == "" {
		return false
	}
	p, found := patterns.Load(k.log)
	if !found {
		p, _ = patterns.LoadOrStore(k.log, regexp.MustCompile(k.log))
	}
	return p.(*regexp.Regexp).MatchString(line)
}

// judge ends the wait for the server when a line of its log says that it cannot
// start: its process may live on.
func (r *running) judge(line string) {
	for _, k := range r.spec.known {
		if k.matches(line, r.spec.gpus) {
			r.fail(fmt.Errorf("its log says: %s", strings.TrimSpace(line)))
			return
		}
	}
}

func (r *running) getImage(ctx context.Context) (err error) {
	if r.spec.image == mockImage {
		if r.spec.image, err = buildMock(ctx, r.engine); err != nil {
			return err
		}
	}
	r.digest, err = r.engine.Pull(ctx, r.spec.image, r.logf)
	return err
}

func (r *running) getRunning(ctx context.Context) error {
	req, err := r.request()
	if err != nil {
		return err
	}
	if r.box, err = r.engine.Create(ctx, req); err != nil {
		return err
	}
	r.started = time.Now()
	if err := r.box.Start(ctx); err != nil {
		return err
	}
	if r.spec.gpus.vendor == nvidia {
		out, err := r.box.Exec(ctx, smi)
		if err != nil {
			return fmt.Errorf("GPUs %s were asked for, and the container has none: nvidia-smi: %w", r.spec.gpus, err)
		}
		r.gpus = readSMI(out)
		return r.spec.gpus.check(r.gpus, r.spec.world)
	}
	return nil
}

// getPort waits until something listens. The container's own address is taken
// where it can be: the proxy behind the published port accepts connections for
// a server that does not listen yet, and bunches what a stream sends.
func (r *running) getPort(ctx context.Context) error {
	direct, published, err := r.box.Addresses(ctx, r.spec.port)
	if err != nil {
		return err
	}
	r.target = llmbench.Target{Model: r.spec.model, Dialect: r.spec.dialect, NoProxy: true}
	if r.spec.key != "" {
		r.target.Header = http.Header{"Authorization": {"Bearer " + r.spec.key}}
	}
	return r.poll(ctx, "port", func(ctx context.Context) error {
		addr, route, err := reach(ctx, direct, published)
		r.target.URL, r.route = "http://"+addr, route
		return err
	})
}

// onContainer is the route by a container's own address.
const onContainer = "container-address"

// reach returns which address of a server somebody listens on, and what kind it
// is. The published port is taken where the container has no address of its own,
// or one that packets do not come through to, as behind some firewalls; one that
// refuses is there, and its server not yet.
func reach(ctx context.Context, direct, published string) (addr, route string, err error) {
	dialer := net.Dialer{Timeout: time.Second}
	if direct != "" {
		conn, err := dialer.DialContext(ctx, "tcp", direct)
		if err == nil {
			return direct, onContainer, conn.Close()
		}
		if published == "" || errors.Is(err, syscall.ECONNREFUSED) {
			return "", "", err
		}
	}
	conn, err := dialer.DialContext(ctx, "tcp", published)
	if err != nil {
		return "", "", err
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	var timeout net.Error
	if _, err := conn.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		return "", "", fmt.Errorf("nobody listens behind the published port %s: %v", published, err)
	}
	return published, "published-port", nil
}

func (r *running) getHealth(ctx context.Context) error {
	return r.poll(ctx, "health", func(ctx context.Context) error {
		_, err := r.ask(ctx, step{method: http.MethodGet, path: r.spec.health})
		return err
	})
}

func (r *running) getSetup(ctx context.Context) error { return r.take(ctx, r.spec.setup) }

func (r *running) getModel(ctx context.Context) error {
	r.getVersion(ctx)
	if r.spec.listed != "" || r.spec.adopts {
		if err := r.poll(ctx, "model", r.findModel); err != nil {
			return err
		}
	}
	r.ready = time.Since(r.started)
	return nil
}

// findModel looks for the model in the server's list, or takes the only name
// there where that is the server's own.
func (r *running) findModel(ctx context.Context) error {
	body, err := r.ask(ctx, step{method: http.MethodGet, path: r.spec.models})
	if err != nil {
		return err
	}
	var list struct{ Data []struct{ ID string } }
	if err := json.Unmarshal(body, &list); err != nil {
		return fmt.Errorf("%s is no list of models: %w", r.spec.models, err)
	}
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	switch {
	case r.spec.adopts && len(ids) != 1:
		return fmt.Errorf("the server lists %d models: %s", len(ids), strings.Join(ids, ", "))
	case r.spec.adopts:
		r.target.Model = ids[0]
	case !slices.Contains(ids, r.spec.listed):
		return fmt.Errorf("model %q is not listed; the server has: %s", r.spec.listed, strings.Join(ids, ", "))
	}
	return nil
}

// onGPU is an error if a GPU was asked for and the server says that not all of
// the model is on it.
func (r *running) onGPU(ctx context.Context) error {
	if r.spec.gpus.vendor == "" || r.spec.whole[0].path == "" {
		return nil
	}
	all, err := r.look(ctx, r.spec.whole[0])
	if err != nil {
		return err
	}
	on, err := r.look(ctx, r.spec.whole[1])
	if err == nil && on != all {
		err = fmt.Errorf("only %s of %s bytes of the model are on the GPU: take a smaller model or context, or more GPUs", on, all)
	}
	return err
}

// getVersion asks the server for its version. One that does not tell is no
// failure: the image's digest says as much.
func (r *running) getVersion(ctx context.Context) {
	if r.spec.version.path == "" {
		return
	}
	v, err := r.look(ctx, r.spec.version)
	if err != nil {
		r.logf("%s: its version: %v", r.spec.backend, err)
		return
	}
	r.spec.config["server-version"] = v
}

func (r *running) getCompletion(ctx context.Context) error {
	// Streamed, for the instant of the first token.
	sent, s, err := ready(ctx, r.target, true, r.logf)
	if err == nil && s.Deltas > 0 {
		r.first = sent.Add(s.First).Sub(r.started)
	}
	if err != nil {
		return err
	}
	return r.onGPU(ctx)
}
