package llmbench

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestSalt checks which servers have a salt, and what the salt depends on.
func TestSalt(t *testing.T) {
	outlives := Target{URL: "http://x"}
	salt := outlives.Salt()
	assert.Assert(t, salt != 0)
	assert.Equal(t, outlives.Salt(), salt, "another salt in the same process")
	assert.Equal(t, Target{Simulated: true}.Salt(), uint64(0))
	assert.Equal(t, Target{Ephemeral: true}.Salt("a"), uint64(0))
	keeps := Target{Ephemeral: true, KeepsPrompts: true}
	assert.Equal(t, keeps.Salt(), uint64(1))
	assert.Assert(t, keeps.Salt("a") != keeps.Salt("b"))
	assert.Equal(t, Target{KeepsPrompts: true}.Salt(), salt, "the server also keeps prompts of earlier processes")
	assert.Equal(t, outlives.Salt("a", 1), outlives.Salt("a", 1))
	seen := map[uint64]bool{salt: true}
	for _, of := range [][]any{{"a"}, {"b"}, {"a", 1}, {"a", 2}, {"a 1"}, {1}, {1, 2}, {12}} {
		other := outlives.Salt(of...)
		seen[other] = other != 0
	}
	assert.Equal(t, len(seen), 9-1) // the arguments "a 1" give the same salt as "a" and 1
	for text, want := range map[string]uint64{"0": 0, "5": 5, "18446744073709551615": 1<<64 - 1} {
		t.Setenv("LLMBENCH_SALT", text)
		assert.Equal(t, outlives.Salt(), want)
		assert.Equal(t, Target{Simulated: true}.Salt(), want)
		assert.Equal(t, keeps.Salt(), want)
		assert.Equal(t, outlives.Salt("a") == 0, want == 0)
	}
	t.Setenv("LLMBENCH_SALT", "-1")
	assert.Equal(t, outlives.Salt(), uint64(0))
	_, err := setUp(process.Join("test"), outlives, Load{})
	assert.Error(t, err, "LLMBENCH_SALT=-1: want a whole number, at least 0")
}

// helperSalted logs the salts of a server that may run longer than the process.
func helperSalted(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.Simulated = false
	for _, name := range []string{"a", "b"} {
		b.Run(name, func(b *testing.B) {
			b.Logf("salt %d, of the benchmark %d", target.Salt(), target.Salt(b.Name()))
			Run(b, target, Load{Concurrency: 1, Requests: words(2, 1)})
		})
	}
}

// helperSaltKept logs the salts of a server that is part of this process and keeps prompts.
func helperSaltKept(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.KeepsPrompts = true
	for _, name := range []string{"a", "b"} {
		b.Run(name, func(b *testing.B) {
			b.Logf("salt %d, of the benchmark %d", target.Salt(), target.Salt(b.Name()))
			Run(b, target, Load{Concurrency: 1, Requests: words(2, 1)})
		})
	}
}

// TestKeptSaltIsPrinted checks that the output for a server that keeps prompts says how to send the same
// prompts again. It also checks that the next process sends the same prompts.
func TestKeptSaltIsPrinted(t *testing.T) {
	salts := regexp.MustCompile(`salt \d+, of the benchmark \d+`)
	const why = "# LLMBENCH_SALT=1 repeats the prompts of this process: the server keeps the prompts that it has seen, so that each benchmark and pass sends others; LLMBENCH_SALT=0 sends texts from files as they are\n"
	var first []string
	for range 2 {
		stdout, _, code, _ := runHelper(t, "SaltKept", nil, nil)
		assert.Equal(t, code, 0, stdout)
		assert.Equal(t, strings.Count(stdout, why), 1, stdout)
		all := salts.FindAllString(stdout, -1)
		assert.Equal(t, len(all), 2, stdout)
		assert.Assert(t, all[0] != all[1])
		if first == nil {
			first = all
		}
		assert.DeepEqual(t, all, first)
	}
	stdout, _, code, _ := runHelper(t, "SaltKept", nil, nil, "LLMBENCH_SALT=0")
	assert.Equal(t, code, 0, stdout)
	assert.Assert(t, !strings.Contains(stdout, "# LLMBENCH_SALT"), stdout)
}

// helperSaltLess measures a server that may run longer than the process, with prompts that use no salt.
func helperSaltLess(b *testing.B) {
	_, target := loopback(b, mockserver.Config{})
	target.Simulated = false
	Run(b, target, Load{Concurrency: 1, Requests: words(2, 1)})
}

// TestSaltIsPrinted checks that each process has a different salt, prints it once and writes it to the
// records, and that LLMBENCH_SALT repeats it. The configuration lines of two processes must be equal.
func TestSaltIsPrinted(t *testing.T) {
	comment := regexp.MustCompile(`(?m)^# LLMBENCH_SALT=(\d+) repeats the prompts of this process$`)
	salts := regexp.MustCompile(`salt \d+, of the benchmark \d+`)
	process := func(env ...string) (salt string, all []string) {
		stdout, stderr, code, out := runHelper(t, "Salted", []string{"-test.count=2"}, nil, append(env, "LLMBENCH_CLIENT_BOUND=report")...)
		assert.Equal(t, code, 0, stdout+stderr)
		rows, _ := results(t, stdout)
		assert.Equal(t, len(rows), 4, stdout)
		for _, r := range rows {
			assert.Equal(t, r.GetConfig("salt")+r.GetConfig("llmbench_salt"), "")
		}
		if found := comment.FindAllStringSubmatch(stdout, -1); len(found) > 0 {
			assert.Equal(t, len(found), 1, stdout)
			assert.Assert(t, comment.FindStringIndex(stdout)[0] > strings.LastIndex(stdout, "BenchmarkHelper/Salted/"), stdout)
			salt = found[0][1]
		}
		files, err := filepath.Glob(filepath.Join(out, "*.jsonl"))
		assert.NilError(t, err)
		assert.Equal(t, len(files), 4)
		for _, f := range files {
			run, err := records.Open(f)
			assert.NilError(t, err)
			assert.Equal(t, run.Head.Salt, salt)
		}
		return salt, salts.FindAllString(stdout, -1)
	}
	first, all := process()
	assert.Assert(t, first != "")
	assert.Equal(t, len(all), 4)
	second, others := process()
	assert.Assert(t, second != first)
	again, same := process("LLMBENCH_SALT=" + first)
	assert.Equal(t, again, first)
	assert.DeepEqual(t, same, all)
	for i := range all {
		assert.Assert(t, others[i] != all[i])
	}
	none, zeros := process("LLMBENCH_SALT=0")
	assert.Equal(t, none, "")
	assert.Equal(t, zeros[0], fmt.Sprintf("salt %d, of the benchmark %d", 0, 0))

	stdout, _, code, _ := runHelper(t, "SaltLess", nil, nil, "LLMBENCH_CLIENT_BOUND=report")
	assert.Equal(t, code, 0, stdout)
	assert.Assert(t, !strings.Contains(stdout, "SALT"), stdout)
}
