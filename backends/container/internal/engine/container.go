package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tcexec "github.com/testcontainers/testcontainers-go/exec"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A Request describes a container to create.
type Request struct {
	Image      string
	Entrypoint []string // nil means the image's
	Cmd        []string
	Env        map[string]string
	Ports      []int                       // TCP ports to publish, each on a free port of 127.0.0.1
	Files      map[string]string           // contents of files to write into the container, by path
	Labels     map[string]string           // in addition to LabelOwner and LabelProcess
	Host       func(*container.HostConfig) // changes the remaining settings of the container
	Log        *serverlog.Log              // receives the container's output
	Network    string                      // name of a [Network]; "" means the engine's default network
	Alias      string                      // name by which other containers in Network reach this one; "" means none
}

// stopTimeout is the time between SIGTERM and SIGKILL. Servers need it to end their processes and to free
// the GPUs' memory.
const stopTimeout = 10 * time.Second

const (
	// removeTimeout limits the removal of a container. On a busy machine the engine may need a minute.
	removeTimeout = 2 * time.Minute
	// lastWords limits the wait for the state and the last lines of a container that has exited.
	lastWords = 30 * time.Second
	// logLate limits the wait for the end of the log of a removed container.
	logLate = 2 * time.Second
	// killed is the exit status of a container whose first process was killed (128 + SIGKILL). The engine
	// may report up to oomLate after the exit that the reason was a lack of memory.
	killed  = 137
	oomLate = time.Second
)

// A Container is a container that was created by [Engine.Create]. The caller must call Remove.
type Container struct {
	engine *Engine
	inner  testcontainers.Container
	log    *serverlog.Log

	life    context.Context // ends with Remove
	cancel  context.CancelFunc
	reading context.Context // of the log; ends after life, when the container has stopped
	unread  context.CancelFunc
	wg      sync.WaitGroup
	ended   chan struct{}
	end     End // set before ended is closed
	once    sync.Once
}

// An End describes how a container exited, or that a process in it was killed.
type End struct {
	ExitCode int
	OOM      bool   // the container, or a process in it, was killed for lack of memory
	Running  bool   // the container is still running
	Err      string // the engine's error message
}

// String describes the end in a sentence.
func (e End) String() string {
	var text string
	switch {
	case e.OOM && e.Running:
		text = "a process of the container was killed for lack of memory (OOM)"
	case e.OOM:
		text = "the container was killed for lack of memory (OOM)"
	case e.Running:
		text = "the engine cannot tell the state of the container"
	default:
		text = fmt.Sprintf("the container ended with exit status %d", e.ExitCode)
	}
	if e.Err != "" {
		text += ": " + e.Err
	}
	return text
}

// Create creates a container without starting it. The image must be on this machine.
func (e *Engine) Create(ctx context.Context, r Request) (*Container, error) {
	req := testcontainers.ContainerRequest{
		Image:      r.Image,
		Entrypoint: r.Entrypoint,
		Cmd:        r.Cmd,
		Env:        r.Env,
		Labels:     map[string]string{LabelOwner: e.owner.label(), LabelProcess: strconv.Itoa(os.Getpid())},
		HostConfigModifier: func(h *container.HostConfig) {
			h.PortBindings = network.PortMap{}
			for _, p := range r.Ports {
				h.PortBindings[network.MustParsePort(fmt.Sprintf("%d/tcp", p))] = []network.PortBinding{{HostIP: netip.MustParseAddr("127.0.0.1")}}
			}
			if r.Host != nil {
				r.Host(h)
			}
		},
	}
	if r.Network != "" {
		req.Networks = []string{r.Network}
		if r.Alias != "" {
			req.NetworkAliases = map[string][]string{r.Network: {r.Alias}}
		}
	}
	maps.Copy(req.Labels, r.Labels)
	for _, p := range r.Ports {
		req.ExposedPorts = append(req.ExposedPorts, fmt.Sprintf("%d/tcp", p))
	}
	for path, content := range r.Files {
		req.Files = append(req.Files, testcontainers.ContainerFile{Reader: bytes.NewReader([]byte(content)), ContainerFilePath: path, FileMode: 0o644})
	}
	inner, err := e.provider.CreateContainer(ctx, req)
	if err != nil {
		return nil, errors.Join(err, testcontainers.TerminateContainer(inner, testcontainers.StopTimeout(0)))
	}
	c := &Container{engine: e, inner: inner, log: r.Log, ended: make(chan struct{})}
	c.life, c.cancel = context.WithCancel(context.Background())
	c.reading, c.unread = context.WithCancel(context.Background())
	return c, nil
}

// Start starts the container. In the background, it copies the container's output to the log and waits for
// the container to exit.
func (c *Container) Start(ctx context.Context) error {
	id := c.inner.GetContainerID()
	events := c.engine.client.Events(c.life, client.EventsListOptions{
		Filters: make(client.Filters).Add("container", id).Add("event", "oom"),
	})
	if err := c.inner.Start(ctx); err != nil {
		return err
	}
	logged := make(chan struct{})
	c.wg.Go(func() {
		defer close(logged)
		c.readLog(id)
	})
	c.wg.Go(func() { c.watch(events, logged) })
	return nil
}

// readLog copies the output of the container with the given id to the log until the container exits. On a busy
// machine, Docker 20.10 gave a follower nothing of a container that exited at once. An empty log is therefore read once
// more, without following.
func (c *Container) readLog(id string) {
	defer c.log.Flush()
	for _, follow := range []bool{true, false} {
		out, err := c.engine.client.ContainerLogs(c.reading, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: follow})
		if err != nil {
			if c.life.Err() == nil {
				fmt.Fprintf(c.log, "the container's log cannot be read: %v\n", err)
			}
			return
		}
		n, _ := stdcopy.StdCopy(c.log, c.log, out) // if it follows, it blocks until the container exits
		out.Close()
		if n > 0 || c.life.Err() != nil {
			return
		}
	}
}

// watch waits until the container exits, or until one of its processes is killed for lack of memory. In the
// second case the server may never answer again.
func (c *Container) watch(events client.EventsResult, logged <-chan struct{}) {
	end := End{Running: true}
	exit := c.engine.client.ContainerWait(c.life, c.inner.GetContainerID(), client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case <-c.life.Done():
		return
	case <-events.Messages:
		end.OOM = true
	case r := <-exit.Result:
		end.ExitCode, end.Running = int(r.StatusCode), false
		if r.Error != nil {
			end.Err = r.Error.Message
		}
	case err := <-exit.Error:
		end.Err = err.Error()
	}
	ctx, cancel := context.WithTimeout(c.life, lastWords)
	defer cancel()
	if end.ExitCode == killed { // the engine may report the lack of memory only after the exit
		select {
		case <-events.Messages:
			end.OOM = true
		case <-time.After(oomLate):
		case <-ctx.Done():
		}
	}
	if s, err := c.inner.State(ctx); err == nil && !s.Running {
		end = End{ExitCode: s.ExitCode, OOM: s.OOMKilled || end.OOM, Err: s.Error}
		select { // wait for the last lines, which tell why the container exited
		case <-logged:
		case <-ctx.Done():
		}
	}
	c.end = end
	close(c.ended)
}

// Ended returns a channel that is closed when the container has exited by itself, or when one of its
// processes was killed for lack of memory. If the container has exited, the log is complete by then. The
// channel is never closed after Remove.
func (c *Container) Ended() <-chan struct{} { return c.ended }

// Exited reports whether the container has exited, according to the engine. The channel of Ended is closed
// later, when the last lines of the log have been read.
func (c *Container) Exited() bool {
	ctx, cancel := context.WithTimeout(c.life, lastWords)
	defer cancel()
	s, err := c.inner.State(ctx)
	return err == nil && s.Status == container.StateExited
}

// End returns how the container ended. Call it only after the channel of Ended is
// closed.
func (c *Container) End() End { return c.end }

// Addresses returns the addresses of a port of the container: direct is on the
// container's own address, and published on 127.0.0.1. One of them may be "", if
// the port cannot be reached that way.
func (c *Container) Addresses(ctx context.Context, port int) (direct, published string, err error) {
	i, err := c.inner.Inspect(ctx)
	if err != nil {
		return "", "", err
	}
	if c.engine.Direct() {
		for _, n := range i.NetworkSettings.Networks {
			if n.IPAddress.IsValid() {
				direct = net.JoinHostPort(n.IPAddress.String(), strconv.Itoa(port))
			}
		}
	}
	for _, b := range i.NetworkSettings.Ports[network.MustParsePort(fmt.Sprintf("%d/tcp", port))] {
		published = net.JoinHostPort("127.0.0.1", b.HostPort)
	}
	if direct == "" && published == "" {
		return "", "", fmt.Errorf("port %d of the container has no address", port)
	}
	return direct, published, nil
}

// Exec runs a command in the container and returns its output. It returns an error if the command fails.
func (c *Container) Exec(ctx context.Context, cmd []string) (output string, err error) {
	status, r, err := c.inner.Exec(ctx, cmd, tcexec.Multiplexed())
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err == nil && status != 0 {
		err = fmt.Errorf("exit status %d: %s", status, redact.Printable(redact.Known().RemoveBegun(string(bytes.TrimSpace(b)))))
	}
	return string(b), err
}

// Remove stops the container, by force after ten seconds, and removes it with its anonymous volumes. The log has
// what the container prints until then. When Remove returns, all goroutines of the Container have ended. Later
// calls do nothing.
func (c *Container) Remove() (err error) {
	c.once.Do(func() {
		c.cancel()
		ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
		defer cancel()
		err = testcontainers.TerminateContainer(c.inner, testcontainers.StopContext(ctx), testcontainers.StopTimeout(stopTimeout))
		late := time.AfterFunc(logLate, c.unread) // the log of a removed container usually ends by itself
		c.wg.Wait()
		late.Stop()
		c.unread()
	})
	return err
}
