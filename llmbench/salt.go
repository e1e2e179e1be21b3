package llmbench

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"sync/atomic"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
)

// Salt returns a number for varying the words of prompts, so that the prefix cache of a server does not
// hold prompts from an earlier process. Use it as the field Salt of the data sets in package benchdata.
// Their prompts have the same lengths with every salt.
//
// If the server may run longer than this process, which means that it is neither Simulated nor Ephemeral,
// the salt is random and differs in each process. Otherwise every process sends the same prompts: the salt
// is 1 if the server KeepsPrompts, and 0, which means no salt, if not. The variable LLMBENCH_SALT sets the
// salt for all servers. After the results, [Main] prints the value of LLMBENCH_SALT that repeats the
// prompts. The records hold it, too.
//
// The number also depends on the arguments. Benchmarks that send the same texts from a file use an argument
// to get different prompts: t.Salt(b.Name()).
func (t Target) Salt(of ...any) uint64 {
	cfg, err := process.ReadConfig()
	if err != nil {
		return 0 // Run reports the error
	}
	salt := promptSalt(cfg, t)
	if salt == 0 {
		return 0
	}
	usedSalt.Store(salt)
	if len(of) == 0 {
		return salt
	}
	hash := fnv.New64a()
	fmt.Fprintln(hash, append([]any{salt}, of...)...)
	return cmp.Or(hash.Sum64(), 1)
}

// usedSalt is the salt that the last call of [Target.Salt] used, or 0 if there was no call with a salt.
var usedSalt atomic.Uint64

// keptSalt is the salt for an Ephemeral or Simulated server that keeps the prompts it has seen. Such a
// server has seen no prompts of earlier processes, so the salt need not be random.
const keptSalt = 1

// promptSalt returns the salt for prompts to t, or 0 if they need none.
func promptSalt(c process.Config, t Target) uint64 {
	switch {
	case c.Salt != nil:
		return *c.Salt
	case t.outlives():
		return process.RandomSalt()
	case t.KeepsPrompts:
		return keptSalt
	}
	return 0
}

// announceSalt arranges that the salt of the prompts to t, if they have one, is printed at the end of the
// process.
func announceSalt(b *testing.B, t Target) {
	b.Helper()
	salt := usedSalt.Load()
	if salt == 0 {
		return
	}
	text := fmt.Sprintf("LLMBENCH_SALT=%d repeats the prompts of this process", salt)
	if t.KeepsPrompts && salt == keptSalt {
		text += ": the server keeps the prompts that it has seen, so that each benchmark and pass sends others; LLMBENCH_SALT=0 sends texts from files as they are"
	}
	process.AtEnd(b, text)
}
