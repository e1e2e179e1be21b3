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

// refusalGrace is how long a server may refuse a probe with a status that is
// otherwise final. A front-end may be up before its routes are.
const refusalGrace = 10 * time.Second

// wait polls try for a stage of the server's start until try succeeds. It gives up
// before ctx ends only if the server refuses for longer than refusalGrace: waiting
// cures neither a missing key nor a missing path. It logs the state of the wait
// every [probe.ReportInterval].
func (j journal) wait(ctx context.Context, stage string, try func(context.Context) error) error {
	began, reported := time.Now(), time.Now()
	var refusedSince time.Time // zero: the last probe was not refused
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
			j.logf("%s: %s: not yet after %v: %v; its log says: %s", j.backend, stage, time.Since(began).Round(time.Second), err, last)
			reported = time.Now()
		}
		return err != nil, err
	})
}

// isRefusal reports whether err is a status that waiting rarely changes.
func isRefusal(err error) bool {
	var status probe.StatusError
	if !errors.As(err, &status) {
		return false
	}
	return status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden || status.Code == http.StatusNotFound
}

// networkGrace is how long the network of a container that has started may need until
// it delivers packets. On a busy machine the first ones end with an error at once.
const networkGrace = 3 * time.Second

// The routes by which a server is reached.
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

// reach returns the route to a server that listens. The published port is used if the
// container has no address of its own, or one that packets do not reach, as behind some
// firewalls. If the container's address refuses the connection, then it is reachable and
// the server does not listen yet. With early, the container's network may not be up yet:
// reach returns the error of the container's address, and a later call decides. A timeout
// always decides, because it means that packets are dropped.
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
	// The proxy accepts connections for a server that does not listen, and closes
	// them at once.
	_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	var timeout net.Error
	if _, err := conn.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		return route{}, fmt.Errorf("the server does not listen behind the published port %s: %v", publishedAddr, err)
	}
	return route{publishedAddr, portRoute, why}, nil
}
