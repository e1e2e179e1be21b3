package shard

import (
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// A Config says which processes make measurements together. If Addr is "", this process measures alone.
type Config struct {
	Part
	Addr    string        // LLMBENCH_RENDEZVOUS: where shard 0 listens
	Token   string        // LLMBENCH_RENDEZVOUS_TOKEN
	Timeout time.Duration // LLMBENCH_RENDEZVOUS_TIMEOUT
}

// leastToken is the minimum length of a token in bytes, unless all shards are on one machine.
const leastToken = 16

// ReadFrom reads a Config. It adds errors to r.
func ReadFrom(r *env.Reader) Config {
	c := Config{Timeout: 2 * time.Minute}
	env.Read(r, &c.Addr, "LLMBENCH_RENDEZVOUS", hostPort, "host:port, where shard 0 listens and the others dial")
	env.ReadHidden(r, &c.Token, "LLMBENCH_RENDEZVOUS_TOKEN", env.Text, "a text that is not blank")
	env.Read(r, &c.Timeout, "LLMBENCH_RENDEZVOUS_TIMEOUT", env.Duration, "a duration above 0, such as 2m")
	for _, name := range []string{"LLMBENCH_SHARD", "LLMBENCH_RENDEZVOUS_TOKEN", "LLMBENCH_RENDEZVOUS_TIMEOUT"} {
		r.Requires(name, "LLMBENCH_RENDEZVOUS")
	}
	if c.Addr == "" {
		return Config{}
	}
	var err error
	if c.Part, err = Place(r.Value); err != nil {
		r.Errorf("%v", err)
	}
	if host, _, _ := net.SplitHostPort(c.Addr); !Loopback(host) && len(c.Token) < leastToken {
		r.Errorf("LLMBENCH_RENDEZVOUS_TOKEN: want at least %d bytes, the same in all shards, as LLMBENCH_RENDEZVOUS=%s is not on loopback", leastToken, c.Addr)
	}
	return c
}

// hostPort accepts a host and a port, which must be at least 1.
func hostPort(v string) (string, error) {
	host, port, err := net.SplitHostPort(v)
	if err != nil {
		return "", err
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" {
		return "", errors.New("not a host and a port")
	}
	return v, nil
}
