package benchfile

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestRead(t *testing.T) {
	const text = `Unit req/s better=higher
backend: mock
BenchmarkChat/backend=mock/concurrency=8-2 1 20.5 req/s 7000000 p50-ttft-ns
some log line
backend: vllm
version: 1
BenchmarkChat/concurrency=8-2 1 0 ns/op
`
	got, err := Read(strings.NewReader(text), "a.txt")
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []Result{
		{
			Line:   3,
			Name:   Name{"Chat/backend=mock/concurrency=8-2", "Chat", []Setting{{"backend", "mock"}, {"concurrency", "8"}}, "2"},
			Config: []Setting{{"backend", "mock"}},
			Values: []Value{{"req/s", 20.5}, {"p50-ttft-ns", 7e6}},
		},
		{
			Line:   7,
			Name:   Name{"Chat/concurrency=8-2", "Chat", []Setting{{"concurrency", "8"}}, "2"},
			Config: []Setting{{"backend", "vllm"}, {"version", "1"}},
			Values: []Value{{"ns/op", 0}},
		},
	})
	v, ok := got[0].Value("req/s")
	assert.Assert(t, ok && v == 20.5)
	_, ok = got[0].Value("p50-ttft-sec")
	assert.Assert(t, !ok)

	got, err = Read(strings.NewReader("ok\n"), "a.txt")
	assert.NilError(t, err)
	assert.Equal(t, len(got), 0)
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"BenchmarkA 1 NaN req/s", "a.txt:2: req/s is NaN: want a finite number"},
		{"BenchmarkA 1 -Inf p50-ttft-ns", "a.txt:2: p50-ttft-ns is -Inf: want a finite number"},
		{"BenchmarkA 1 3 req/s 4 req/s", "a.txt:2: req/s twice in one result"},
		{"BenchmarkA 1 3", "a.txt:2: missing units"},
		{strings.Repeat("x", 1<<20), "a.txt:1: bufio.Scanner: token too long"},
	} {
		_, err := Read(strings.NewReader("BenchmarkA 1 3 req/s\n"+c.line+"\n"), "a.txt")
		assert.ErrorContains(t, err, c.want)
	}
}

func TestParseName(t *testing.T) {
	for _, c := range []struct {
		text, base, procs, without string
		keys                       []Setting
	}{
		{"BenchmarkA", "A", "", "A", nil},
		{"A-16", "A", "16", "A", nil},
		{"A/b/c=d/e", "A/b/e", "", "A/b/c=d/e", []Setting{{"c", "d"}}},
		{"A/model=llama-3/concurrency=8-2", "A", "2", "A/model=llama-3/concurrency=8", []Setting{{"model", "llama-3"}, {"concurrency", "8"}}},
		{"A/b=c=d/e=", "A", "", "A/b=c=d/e=", []Setting{{"b", "c=d"}, {"e", ""}}},
	} {
		n := ParseName(c.text)
		assert.DeepEqual(t, n, Name{strings.TrimPrefix(c.text, "Benchmark"), c.base, c.keys, c.procs})
		assert.Equal(t, n.WithoutProcs(), c.without)
	}
	n := ParseName("A/b=1/b=2")
	assert.Equal(t, n.Key("b"), "1")
	assert.Equal(t, n.Key("c"), "")
}

func TestParseRunning(t *testing.T) {
	assert.DeepEqual(t, ParseRunning("BenchmarkChat/model=qwen-7"), Name{"Chat/model=qwen-7", "Chat", []Setting{{"model", "qwen-7"}}, ""})
	assert.DeepEqual(t, ParseRunning("Chat"), Name{"Chat", "Chat", nil, ""})
}
