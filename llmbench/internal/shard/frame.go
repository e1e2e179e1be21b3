package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A kind is what a frame is for.
type kind byte

// The kinds of frames. The first four are those of the greeting, in their order.
const (
	kindHello   kind = 1 + iota // the dialer's protocol and random number
	kindNonce                   // the listener's random number
	kindProof                   // who the dialer is, and its HMAC
	kindWelcome                 // the listener's HMAC, and what it hands to all
	kindRefused                 // why the dialer is refused
	kindBeat                    // a sign of life, without content
	kindPing                    // asks for a pong with the same content
	kindPong                    // the content of the ping, and the instant on the shard's clock
	kindStep                    // a message of a step
	kindSamples                 // samples of a pass
	kindFailed                  // why the sender ends the group
	kinds                       // their number and 1
)

// Limits of the content of a frame in bytes. Nobody else's greeting makes a process allocate more
// than the first.
const (
	maxGreeting = 64 << 10
	maxContent  = 256 << 20
)

// A frame is what one process sends to another.
type frame struct {
	kind kind
	data []byte
}

// headLength is the length of what comes before the content of a frame.
const headLength = 5

// appendFrame appends a frame as it is sent.
func appendFrame(to []byte, f frame) []byte {
	to = append(to, byte(f.kind))
	to = binary.BigEndian.AppendUint32(to, uint32(len(f.data)))
	return append(to, f.data...)
}

// readFrame reads a frame whose content has at most that many bytes.
func readFrame(r io.Reader, most int) (frame, error) {
	var head [headLength]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{kind: kind(head[0])}
	n := binary.BigEndian.Uint32(head[1:])
	switch {
	case f.kind < kindHello || f.kind >= kinds:
		return frame{}, fmt.Errorf("a frame of kind %d: want 1 to %d", f.kind, kinds-1)
	case int64(n) > int64(most):
		return frame{}, fmt.Errorf("a frame of %d bytes: want at most %d", n, most)
	}
	f.data = make([]byte, n)
	if _, err := io.ReadFull(r, f.data); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	return f, nil
}

// A message is the content of a frame of kindStep.
type message struct {
	step string
	data []byte
}

var errMessage = errors.New("a step without a name: want a length and a name")

func (m message) frame() frame {
	data := binary.AppendUvarint(nil, uint64(len(m.step)))
	data = append(append(data, m.step...), m.data...)
	return frame{kindStep, data}
}

func parseMessage(data []byte) (message, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n == 0 || n > uint64(len(data)-size) {
		return message{}, errMessage
	}
	end := size + int(n)
	return message{string(data[size:end]), data[end:]}, nil
}
