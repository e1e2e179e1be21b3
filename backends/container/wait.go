package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
)

// refusalGrace is how long a server may answer a probe with a status that usually does not change. A
// front-end may be up before its routes are.
const refusalGrace = 10 * time.Second

// wait polls try, for a stage of the server's start, until try succeeds or ctx ends. It gives up earlier
// only if the server answers for longer than refusalGrace with a status such as 401 or 404, because waiting
// cures neither a missing key nor a missing path. Every [probe.ReportInterval] it logs what it is waiting
// for.
func (j *journal) wait(ctx context.Context, stage string, try func(context.Context) error) error {
	began, reported := time.Now(), time.Now()
	var refusedSince time.Time // zero if the last probe was not refused
	return probe.Poll(ctx, func() (again bool, err error) {
		one, cancel := context.WithTimeoutCause(ctx, probe.Timeout, fmt.Errorf("no answer in %v", probe.Timeout))
		defer cancel()
		err = try(one)
		switch {
		case !isRefusal(err):
			refusedSince = time.Time{}
		case refusedSince.IsZero():
			refusedSince = time.Now()
		case time.Since(refusedSince) >= refusalGrace:
			return false, err
		}
		if err != nil && time.Since(reported) >= probe.ReportInterval {
			last := "nothing"
			if lines := j.log.Lines(); len(lines) > 0 {
				last = lines[len(lines)-1]
			}
			j.logf("%s: %s: not yet after %v: %v; its log says: %s", j.spec.Backend, stage, time.Since(began).Round(time.Second), err, last)
			reported = time.Now()
		}
		return err != nil, err
	})
}

// isRefusal reports whether err is an HTTP status that waiting rarely changes.
func isRefusal(err error) bool {
	var status probe.StatusError
	if !errors.As(err, &status) {
		return false
	}
	return status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden || status.Code == http.StatusNotFound
}

// networkGrace is how long it may take until the network of a started container delivers packets. On a busy
// machine, the first packets fail with an error at once.
const networkGrace = 3 * time.Second

// The routes by which a server can be reached.
const (
	containerRoute = "container-address" // the container's own address
	portRoute      = "published-port"    // the port published on 127.0.0.1, through the engine's proxy
)

// A dialFunc connects to an address, as [net.Dialer.DialContext] does.
type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// A route is how a server is reached.
type route struct {
	addr string
	name string // containerRoute or portRoute
	why  string // for portRoute: why the container's own address is not used
}

// reach returns the route to a server that listens. It prefers the container's own address. It uses the
// published port if the container has no such address, or if packets do not reach the address, as behind
// some firewalls.
//
// If the container's address refuses the connection, the address can be reached, but the server does not
// listen yet: reach returns the error. If early is true, the container's network may not be up yet; for
// most errors, reach then returns the error too and leaves the choice to a later call. A timeout always
// means that packets are dropped, so reach then uses the published port.
func reach(ctx context.Context, dial dialFunc, containerAddr, publishedAddr string, early bool) (route, error) {
	why := "the container has no address that this machine can reach"
	if containerAddr != "" {
		conn, err := dial(ctx, "tcp", containerAddr)
		if err == nil {
			return route{containerAddr, containerRoute, ""}, conn.Close()
		}
		var timeout net.Error
		dropped := errors.As(err, &timeout) && timeout.Timeout()
		if publishedAddr == "" || errors.Is(err, syscall.ECONNREFUSED) || early && !dropped {
			return route{}, err
		}
		why = fmt.Sprintf("the container's address %s cannot be reached: %v", containerAddr, err)
	}
	conn, err := dial(ctx, "tcp", publishedAddr)
	if err != nil {
		return route{}, err
	}
	defer conn.Close()
	// If the server does not listen, the proxy accepts connections nevertheless, and closes them at once.
	_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	var timeout net.Error
	if _, err := conn.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		return route{}, fmt.Errorf("the server does not listen behind the published port %s: %v", publishedAddr, err)
	}
	return route{publishedAddr, portRoute, why}, nil
}
