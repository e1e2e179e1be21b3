package shard

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// protocol is the beginning of a hello. It must change whenever the frames or the steps change.
const protocol = "llmbench shards 2\n"

// nonceLength is the length of the random numbers in bytes.
const nonceLength = 32

// A proof says who a dialer is.
type proof struct {
	Index, Count int
	Name         string // name of the machine
	Facts        []Fact
	MAC          []byte // HMAC of the dialer's role, both random numbers and the other members
}

// A welcome is the answer to a valid proof.
type welcome struct {
	Hand []byte // data that shard 0 sends to all shards
	MAC  []byte // HMAC of the listener's role, both random numbers and the other member
}

// mac returns the HMAC of a role, both random numbers, and a value in JSON. It includes the role, so that
// one side cannot use the other side's HMAC as its own proof.
func mac(token, role string, dialer, listener []byte, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // cannot happen: the values have only texts and numbers
	}
	h := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(h, "%s\n%x\n%x\n%s", role, dialer, listener, text)
	return h.Sum(nil)
}

func nonce() []byte {
	b := make([]byte, nonceLength)
	rand.Read(b) // never fails
	return b
}

// A refusal is an error that is sent to the other side.
type refusal string

func (r refusal) Error() string { return string(r) }

// errStranger is the error of a connection that does not begin like a shard's connection.
var errStranger = errors.New("does not use the protocol of this version of llmbench")

var errToken = errors.New("its LLMBENCH_RENDEZVOUS_TOKEN is not that of shard 0")

// awaitHello reads the hello of a process that has dialed, and returns its random number.
func awaitHello(c io.ReadWriter) (dialer []byte, err error) {
	hello, err := readKind(c, kindHello)
	if err != nil {
		return nil, errStranger
	}
	dialer, ours := bytes.CutPrefix(hello, []byte(protocol))
	if !ours || len(dialer) != nonceLength {
		return nil, refuse(c, errStranger)
	}
	return dialer, nil
}

// greetDialer performs the handshake with a process whose hello had the random number dialer. It returns
// who the process is, or claims to be. If accept returns an error, the process is refused, and the error is
// sent to it.
func greetDialer(c io.ReadWriter, dialer []byte, token string, hand []byte, accept func(*proof) error) (*proof, error) {
	listener := nonce()
	if err := writeFrame(c, frame{kindNonce, listener}); err != nil {
		return nil, err
	}
	data, err := readKind(c, kindProof)
	if errors.As(err, new(refusal)) { // only a listener refuses
		return nil, errStranger
	}
	if err != nil {
		return nil, err
	}
	var p proof
	if json.Unmarshal(data, &p) != nil {
		return nil, errStranger
	}
	claimed := p.MAC
	p.MAC = nil
	if !hmac.Equal(claimed, mac(token, "dialer", dialer, listener, p)) {
		return &p, refuse(c, errToken)
	}
	if err := accept(&p); err != nil {
		return &p, refuse(c, err)
	}
	w := welcome{Hand: hand}
	w.MAC = mac(token, "listener", dialer, listener, w)
	return &p, writeJSON(c, kindWelcome, w)
}

// refuse sends the reason of a refusal to the other side, and returns it.
func refuse(c io.Writer, why error) error {
	writeFrame(c, frame{kindRefused, []byte(why.Error())}) // the other side may be gone
	return why
}

// greetListener performs the handshake with shard 0. It returns the data that shard 0 sends to all shards.
// If the error is a refusal, dialing again is useless.
func greetListener(c io.ReadWriter, token string, p proof) (hand []byte, err error) {
	dialer := nonce()
	if err := writeFrame(c, frame{kindHello, append([]byte(protocol), dialer...)}); err != nil {
		return nil, err
	}
	listener, err := readKind(c, kindNonce)
	if err != nil {
		return nil, err
	}
	p.MAC = nil
	p.MAC = mac(token, "dialer", dialer, listener, p)
	if err := writeJSON(c, kindProof, p); err != nil {
		return nil, err
	}
	data, err := readKind(c, kindWelcome)
	if err != nil {
		return nil, err
	}
	var w welcome
	if json.Unmarshal(data, &w) != nil {
		return nil, errStranger
	}
	claimed := w.MAC
	w.MAC = nil
	if !hmac.Equal(claimed, mac(token, "listener", dialer, listener, w)) {
		return nil, refusal("the process that listens there does not know LLMBENCH_RENDEZVOUS_TOKEN")
	}
	return w.Hand, nil
}

// readKind reads a frame of the handshake. If the frame is a refusal, readKind returns it as a refusal
// error.
func readKind(r io.Reader, want kind) ([]byte, error) {
	f, err := readFrame(r, maxGreeting)
	switch {
	case err != nil:
		return nil, err
	case f.kind == kindRefused:
		return nil, refusal(readable(string(f.data)))
	case f.kind != want:
		return nil, errStranger
	}
	return f.data, nil
}

func writeFrame(w io.Writer, f frame) error {
	_, err := w.Write(appendFrame(nil, f))
	return err
}

func writeJSON(w io.Writer, k kind, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFrame(w, frame{k, data})
}
