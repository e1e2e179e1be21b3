package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// A request is a job of a load with its arrival time.
type request struct {
	at  time.Duration
	job engine.Job
}

// requests yields the requests of a load in the order of arrival. After an error there are no more.
type requests = iter.Seq2[request, error]

// lengths defines the prompt and output lengths of a synthetic load.
type lengths struct {
	profile       engine.Profile
	input, output int // in tokens; if output is 0, the profile's distribution is used
}

// job returns the job with index i.
func (l lengths) job(i int) (engine.Job, error) {
	j := engine.Job{Prompt: l.input, Output: l.output}
	if j.Output == 0 {
		j.Output = l.profile.DrawOutput(uint64(i))
	}
	if j.Output == 0 {
		return j, errors.New("output: 0 and the profile has no distribution of lengths: want 1 or more")
	}
	return j, nil
}

// poisson returns n requests of an open loop with Poisson arrivals, at a mean rate in requests per second.
func poisson(l lengths, rate float64, n int, seed uint64) requests {
	return func(yield func(request, error) bool) {
		r := rand.New(rand.NewPCG(seed, 0))
		at := 0.0
		for i := range n {
			at += r.ExpFloat64() / rate
			j, err := l.job(i)
			if !yield(request{time.Duration(at * float64(time.Second)), j}, err) || err != nil {
				return
			}
		}
	}
}

// longest is the longest accepted duration of a trace.
const longest = 10_000 * time.Hour

// traces lists the kinds of traces.
var traces = []string{"azure", "mooncake"}

// trace returns the requests of a recorded load, which is repeated the given number of times. spec is
// azure:PATH or mooncake:PATH. block is the block size, in tokens, of the servers' prefix cache.
func trace(spec string, repeat, block int) requests {
	kind, path, _ := strings.Cut(spec, ":")
	read := azure
	if kind == "mooncake" {
		read = func(r io.Reader, yield func(request, error) bool) { mooncake(r, block, yield) }
	}
	return func(yield func(request, error) bool) {
		var begin time.Duration
		for range repeat {
			f, err := os.Open(path)
			if err != nil {
				yield(request{}, fmt.Errorf("trace: %w", err))
				return
			}
			last, on, n := begin, true, 0
			read(bufio.NewReaderSize(f, 1<<20), func(r request, err error) bool {
				if err != nil {
					err = fmt.Errorf("trace %s: %w", path, err)
				}
				n++
				if err == nil && (r.at < last-begin || r.at > longest) {
					err = fmt.Errorf("trace %s: request %d arrives at %v: want %v (the arrival before) to %v", path, n, r.at, last-begin, longest)
				}
				r.at += begin
				last = max(last, r.at)
				on = yield(r, err) && err == nil
				return on
			})
			f.Close()
			if n == 0 {
				on = false
				yield(request{}, fmt.Errorf("trace %s: no requests", path))
			}
			if !on {
				return
			}
			begin = last
		}
	}
}

// azure reads a trace of Azure's LLM inference service (https://github.com/Azure/AzurePublicDataset). Each line
// is a request: its arrival time, and its numbers of prompt tokens and output tokens.
func azure(r io.Reader, yield func(request, error) bool) {
	lines := csv.NewReader(r)
	lines.ReuseRecord, lines.FieldsPerRecord = true, 3
	var first time.Time
	for n := 1; ; n++ {
		f, err := lines.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			yield(request{}, err)
			return
		}
		at, err := time.Parse("2006-01-02 15:04:05.9999999", f[0])
		if err != nil && n == 1 {
			continue // the header
		}
		prompt, err2 := strconv.Atoi(f[1])
		output, err3 := strconv.Atoi(f[2])
		if err := errors.Join(err, err2, err3); err != nil {
			yield(request{}, fmt.Errorf("line %d: %w", n, err))
			return
		}
		if prompt < 0 || output < 0 {
			yield(request{}, fmt.Errorf("line %d: %d prompt and %d output tokens: want 0 or more", n, prompt, output))
			return
		}
		if first.IsZero() {
			first = at
		}
		if !yield(request{at.Sub(first), engine.Job{Prompt: prompt, Output: max(output, 1)}}, nil) {
			return
		}
	}
}

// mooncakeBlock is the number of tokens per hash id in a Mooncake trace.
const mooncakeBlock = 512

// mooncake reads a trace of Mooncake (https://github.com/kvcache-ai/Mooncake). Each line is a request in JSON
// with the hash ids of the prompt's blocks. A hash id also identifies all blocks before its block.
//
// The blocks of the trace and of the simulated cache may differ in size. So a block of the cache is named after
// its last token: the name is made of the hash id of the trace's block with that token, and of the token's
// position in the trace's block.
func mooncake(r io.Reader, block int, yield func(request, error) bool) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	n := 1
	for ; lines.Scan(); n++ {
		var q struct {
			Timestamp float64  `json:"timestamp"` // milliseconds
			Input     int      `json:"input_length"`
			Output    int      `json:"output_length"`
			Hashes    []uint64 `json:"hash_ids"`
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			yield(request{}, fmt.Errorf("line %d: %w", n, err))
			return
		}
		if q.Input < 0 || q.Output < 0 {
			yield(request{}, fmt.Errorf("line %d: input_length %d and output_length %d: want 0 or more", n, q.Input, q.Output))
			return
		}
		if most := float64(longest.Milliseconds()); q.Timestamp < 0 || q.Timestamp > most {
			yield(request{}, fmt.Errorf("line %d: timestamp: %v: want 0 to %v milliseconds", n, q.Timestamp, most))
			return
		}
		j := engine.Job{Prompt: q.Input, Output: max(q.Output, 1)}
		for end := block; end <= q.Input; end += block {
			h, offset := (end-1)/mooncakeBlock, (end-1)%mooncakeBlock
			if h >= len(q.Hashes) {
				break
			}
			j.Prefix = append(j.Prefix, q.Hashes[h]*mooncakeBlock+uint64(offset))
		}
		if !yield(request{time.Duration(q.Timestamp * float64(time.Millisecond)), j}, nil) {
			return
		}
	}
	if err := lines.Err(); err != nil {
		yield(request{}, fmt.Errorf("line %d: %w", n, err))
	}
}
