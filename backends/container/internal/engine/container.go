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
)

// A Request says which container to make.
type Request struct {
	Image      string
	Entrypoint []string // nil is the image's
	Cmd        []string
	Env        map[string]string
	Ports      []int                       // TCP ports to publish, each on a free port of 127.0.0.1
	Files      map[string]string           // content of files to write into it, by their paths
	Labels     map[string]string           // beside LabelOwner and LabelProcess
	Host       func(*container.HostConfig) // sets what else the engine is to grant
	Log        *serverlog.Log              // gets what the container writes
}

// stopTimeout is how long a container has between SIGTERM and SIGKILL: servers
// have processes to end, and memory of GPUs to give back.
const stopTimeout = 10 * time.Second

// removeTimeout bounds the removal of a container.
const removeTimeout = 30 * time.Second

// A Container is one that [Engine.Create] made. The caller must call Remove.
type Container struct {
	engine *Engine
	inner  testcontainers.Container
	log    *serverlog.Log

	life   context.Context // ends with Remove
	cancel context.CancelFunc
	wg     sync.WaitGroup
	ended  chan struct{}
	end    End // set before ended is closed
	once   sync.Once
}

// An End is how a container ended, all by itself.
type End struct {
	ExitCode int
	OOM      bool   // it, or a process in it, was killed for lack of memory
	Running  bool   // it still runs, without that process
	Err      string // what the engine says about it
}

// String says it in words.
func (e End) String() string {
	var text string
	switch {
	case e.OOM && e.Running:
		text = "a process of the container was killed for lack of memory (OOM)"
	case e.OOM:
		text = "the container was killed for lack of memory (OOM)"
	case e.Running:
		text = "the engine cannot say how the container fares"
	default:
		text = fmt.Sprintf("the container ended with exit status %d", e.ExitCode)
	}
	if e.Err != "" {
		text += ": " + e.Err
	}
	return text
}

// Create makes a container without starting it. Its image must be there.
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
	return c, nil
}

// Start starts the container, follows its log, and takes note when it ends.
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
		out, err := c.engine.client.ContainerLogs(c.life, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
		if err != nil {
			fmt.Fprintf(c.log, "the container's log cannot be read: %v\n", err)
			return
		}
		defer out.Close()
		_, _ = stdcopy.StdCopy(c.log, c.log, out) // to the end of the container
		c.log.Flush()
	})
	c.wg.Go(func() { c.watch(events, logged) })
	return nil
}

// watch waits for the container's end, or for one of its processes to be killed
// for lack of memory: its server may never answer again then.
func (c *Container) watch(events client.EventsResult, logged <-chan struct{}) {
	end := End{Running: true}
	over := c.engine.client.ContainerWait(c.life, c.inner.GetContainerID(), client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case <-c.life.Done():
		return
	case <-events.Messages:
		end.OOM = true
	case r := <-over.Result:
		end.ExitCode, end.Running = int(r.StatusCode), false
		if r.Error != nil {
			end.Err = r.Error.Message
		}
	case err := <-over.Error:
		end.Err = err.Error()
	}
	ctx, cancel := context.WithTimeout(c.life, removeTimeout)
	defer cancel()
	if s, err := c.inner.State(ctx); err == nil && !s.Running {
		end = End{ExitCode: s.ExitCode, OOM: s.OOMKilled || end.OOM, Err: s.Error}
		select { // its last words are why it ended
		case <-logged:
		case <-ctx.Done():
		}
	}
	c.end = end
	close(c.ended)
}

// Ended returns a channel that is closed when the container has ended by itself,
// or lost a process for lack of memory. Its log is whole by then. It is never
// closed after Remove.
func (c *Container) Ended() <-chan struct{} { return c.ended }

// End says how the container ended, once the channel of Ended is closed.
func (c *Container) End() End { return c.end }

// ID is the container's id, as short as Docker shows it.
func (c *Container) ID() string { return c.inner.GetContainerID()[:12] }

// Addresses returns where a port of the container is reached: on the container's
// own address, "" where it has none that can be reached, and on this machine's
// loopback.
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

// Exec runs a command in the container and returns what it wrote. It is an error
// if that fails.
func (c *Container) Exec(ctx context.Context, cmd []string) (output string, err error) {
	status, r, err := c.inner.Exec(ctx, cmd, tcexec.Multiplexed())
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err == nil && status != 0 {
		err = fmt.Errorf("exit status %d: %s", status, bytes.TrimSpace(b))
	}
	return string(b), err
}

// Remove stops the container, by force after ten seconds, and removes it with its
// anonymous volumes. All that was begun for it has ended when it returns. Later
// calls do nothing.
func (c *Container) Remove() (err error) {
	c.once.Do(func() {
		c.cancel()
		ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
		defer cancel()
		err = testcontainers.TerminateContainer(c.inner, testcontainers.StopContext(ctx), testcontainers.StopTimeout(stopTimeout))
		c.wg.Wait()
	})
	return err
}
