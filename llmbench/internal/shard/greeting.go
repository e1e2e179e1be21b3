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

// protocol is what a hello begins with. It changes with the frames and the steps.
const protocol = "llmbench shards 1\n"

// nonceLength is the length of the random numbers in bytes.
const nonceLength = 32

// A proof is who a dialer is.
type proof struct {
	Index, Count int
	Name         string // of the machine
	Facts        []Fact
	MAC          []byte // of the dialer's role, both random numbers and the other members
}

// A welcome is the answer to a proof.
type welcome struct {
	Hand []byte // what shard 0 hands to all
	MAC  []byte // of the listener's role, both random numbers and the other member
}

// mac returns the HMAC of a role, of both random numbers and of a value in JSON. With the role in
// it, no side's HMAC is a proof of the other side.
func mac(token, role string, dialer, listener []byte, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values have texts and numbers only
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

// A refusal is an error that the other side is told.
type refusal string

func (r refusal) Error() string { return string(r) }

// errStranger is the error of a connection that does not begin as that of a shard does.
var errStranger = errors.New("does not speak as a shard of this version of llmbench does")

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

// greetDialer greets a process that has said hello with a random number, and returns who it is, or says
// it is. An error of accept refuses the process, which is told why.
func greetDialer(c io.ReadWriter, dialer []byte, token string, hand []byte, accept func(*proof) error) (*proof, error) {
	listener := nonce()
	if err := writeFrame(c, frame{kindNonce, listener}); err != nil {
		return nil, err
	}
	data, err := readKind(c, kindProof)
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

// refuse tells the other side why it is refused. It returns the reason.
func refuse(c io.Writer, why error) error {
	writeFrame(c, frame{kindRefused, []byte(why.Error())}) // the other side may be gone
	return why
}

// greetListener greets shard 0, and returns what it hands to all. An error that is a refusal is
// final.
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
		return nil, refusal("who listens there does not know LLMBENCH_RENDEZVOUS_TOKEN")
	}
	return w.Hand, nil
}

// readKind reads a frame of a greeting. A refusal is returned as one.
func readKind(r io.Reader, want kind) ([]byte, error) {
	f, err := readFrame(r, maxGreeting)
	switch {
	case err != nil:
		return nil, err
	case f.kind == kindRefused:
		return nil, refusal(f.data)
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
