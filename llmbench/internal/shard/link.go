package shard

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A link is a connection to another process of the group.
type link struct {
	group *Group
	conn  net.Conn
	index int    // number of the other process
	name  string // name of the other process, for errors

	in    chan frame    // steps and samples, in the order in which they were sent; closed when no more can come
	told  chan struct{} // closed when the other process has said why the group has failed
	pongs chan []byte

	mu    sync.Mutex   // held while a frame is written
	quiet atomic.Int64 // the longest time without receiving a byte since the last start, in nanoseconds
}

// waitingFrames is the maximum number of received frames of a link that are waiting. If there are more, the
// other process has to wait.
const waitingFrames = 64

func newLink(g *Group, c net.Conn, index int, name string) *link {
	return &link{group: g, conn: c, index: index, name: name, in: make(chan frame, waitingFrames), told: make(chan struct{}), pongs: make(chan []byte, 1)}
}

// lastWords is a time limit. If a process cannot send, it waits this long for what the other process sent
// before. After the end of the group, samples are still sent and received for this long.
const lastWords = time.Second

// send sends a frame. If the other process does not receive the frame within the time for which it may be
// silent, it is lost.
func (l *link) send(f frame) error {
	err := l.write(f, l.group.silence)
	if err == nil {
		return nil
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		// The other process has closed the connection. Its frame with the reason may not have been read
		// yet.
		timer := time.NewTimer(lastWords)
		defer timer.Stop()
		select {
		case <-l.group.ctx.Done():
		case <-timer.C:
		}
	}
	return l.lost(err)
}

// sendLast sends a frame, even if the group has ended. If the group has ended and the other process does
// not receive the frame, sendLast returns the error that ended the group.
func (l *link) sendLast(f frame) error {
	ended := l.group.Err()
	if ended == nil {
		return l.send(f)
	}
	if l.write(f, lastWords) == nil {
		return nil
	}
	return ended
}

// write writes a frame within a time limit. An error does not end the group.
func (l *link) write(f frame, within time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn.SetWriteDeadline(time.Now().Add(within))
	return writeFrame(l.conn, f)
}

// lost ends the group because of an error of the connection.
func (l *link) lost(err error) error { return l.group.end(l.why(err), l) }

// why returns an error that says that the other process is lost, and why.
func (l *link) why(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%s is lost: nothing heard for %v", l.name, l.group.silence)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s is lost: it closed the connection", l.name)
	}
	return fmt.Errorf("%s is lost: %w", l.name, err)
}

// wait waits for bytes from the other process. If the time limit passes because this process itself was
// stopped, bytes that have come in the meantime still count. They may tell which process is lost.
func (l *link) wait(in *bufio.Reader) error {
	began := time.Now()
	defer func() {
		if quiet := int64(time.Since(began)); quiet > l.quiet.Load() {
			l.quiet.Store(quiet)
		}
	}()
	l.conn.SetReadDeadline(time.Now().Add(l.group.silence))
	_, err := in.Peek(1)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		l.conn.SetReadDeadline(time.Now().Add(lastWords))
		_, err = in.Peek(1)
	}
	l.conn.SetReadDeadline(time.Now().Add(l.group.silence))
	return err
}

// run reads frames until the connection ends.
func (l *link) run() {
	defer close(l.in)
	told := sync.OnceFunc(func() { close(l.told) })
	in := bufio.NewReader(l.conn)
	for {
		err := l.wait(in)
		var f frame
		if err == nil {
			f, err = readFrame(in, maxContent)
		}
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) { // the other process may only be stopped: send it the reason, too
				l.group.end(l.why(err), nil)
			}
			l.lost(err)
			return
		}
		switch f.kind {
		case kindBeat:
		case kindPing:
			now := binary.BigEndian.AppendUint64(f.data, uint64(l.group.now()))
			if err := l.write(frame{kindPong, now}, l.group.silence); errors.Is(err, os.ErrDeadlineExceeded) {
				l.lost(err)
				return
			} // if there is another error, the next read reports the reason
		case kindPong:
			select {
			case l.pongs <- f.data:
			default: // no goroutine waits for it
			}
		case kindFailed:
			except := l
			if l.group.leads() {
				except = nil // the sender must know whether the group has failed or had finished before
			}
			l.group.end(errors.New(string(f.data)), except)
			told()
		case kindStep, kindSamples:
			select {
			case l.in <- f:
			case <-l.group.closing: // no goroutine will receive it
			}
		default:
			l.group.end(fmt.Errorf("%s sent a frame of kind %d after the greeting", l.name, f.kind), l)
		}
	}
}

// trips is the number of round trips from which the offset of a clock is computed.
const trips = 64

// offset measures by how much the clock of the other process is ahead of the group's clock.
func (l *link) offset() (offset, error) {
	var all []trip
	for i := range trips {
		sent := l.group.now()
		id := binary.BigEndian.AppendUint64(nil, uint64(i))
		if err := l.send(frame{kindPing, id}); err != nil {
			return offset{}, err
		}
		select {
		case pong := <-l.pongs:
			received := l.group.now()
			if len(pong) != 16 || string(pong[:8]) != string(id) {
				return offset{}, l.group.end(fmt.Errorf("%s: a pong that answers no ping", l.name), nil)
			}
			all = append(all, trip{sent, time.Duration(binary.BigEndian.Uint64(pong[8:])), received})
		case <-l.group.ctx.Done():
			return offset{}, l.group.Err()
		}
	}
	return leastTrip(all), nil
}
