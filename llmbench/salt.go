package llmbench

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"sync/atomic"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
)

// Salt returns a number on which the words of prompts must depend, so that the prefix cache
// of a server that outlives this process holds no prompt that an earlier process has sent. It
// is for the field Salt of the data sets of package benchdata, whose prompts have the same
// lengths with every salt.
//
// For a server that is neither Simulated nor Ephemeral the number is random, and another one
// in each process. For other servers it is 0, which means no salt, or 1 if the server KeepsPrompts:
// every process sends the same prompts. LLMBENCH_SALT sets the salt of all servers. [Main]
// prints the LLMBENCH_SALT that repeats the prompts after the results, and the records have it.
//
// The number also depends on the arguments. They keep benchmarks apart that send the same
// texts from a file: t.Salt(b.Name()).
func (t Target) Salt(of ...any) uint64 {
	cfg, err := process.ReadConfig()
	if err != nil {
		return 0 // Run returns the error
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

// usedSalt is the salt that [Target.Salt] used last, or 0.
var usedSalt atomic.Uint64

// keptSalt is the salt for a server that keeps the prompts which this process has sent, and no others.
const keptSalt = 1

// promptSalt returns the salt of prompts for a server, or 0 for none.
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

// announceSalt has it printed at the end of the process what the salt of prompts for t is, if they have one.
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
