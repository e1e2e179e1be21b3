package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A kind is the purpose of a frame.
type kind byte

// The kinds of frames. The first four are the frames of the handshake, in their order.
const (
	kindHello   kind = 1 + iota // the dialer's protocol and random number
	kindNonce                   // the listener's random number
	kindProof                   // the dialer's identity, and its HMAC
	kindWelcome                 // the listener's HMAC, and data that it sends to all shards
	kindRefused                 // the reason why the dialer is refused
	kindBeat                    // a sign of life, without content
	kindPing                    // asks for a pong with the same content
	kindPong                    // the content of the ping, and the instant on the shard's clock
	kindStep                    // a message of a step
	kindSamples                 // samples of a pass
	kindFailed                  // the reason why the sender ends the group
	kinds                       // one more than the last kind
)

// Limits of the content of a frame in bytes. During the handshake the limit is small, so that a stranger
// cannot make a process allocate much memory.
const (
	maxGreeting = 64 << 10
	maxContent  = 256 << 20
)

// A frame is the unit in which processes send data to each other.
type frame struct {
	kind kind
	data []byte
}

// headLength is the length of the part before the content of a frame.
const headLength = 5

// appendFrame appends the encoded frame.
func appendFrame(to []byte, f frame) []byte {
	to = append(to, byte(f.kind))
	to = binary.BigEndian.AppendUint32(to, uint32(len(f.data)))
	return append(to, f.data...)
}

// readFrame reads a frame. Its content may have at most the given number of bytes.
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
