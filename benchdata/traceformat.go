package benchdata

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// A TraceFormat says how the file of a [Trace] is written.
type TraceFormat string

// The formats of traces.
const (
	// Azure is the CSV of Azure's LLM inference traces of 2023 and 2024, with
	// columns TIMESTAMP, ContextTokens and GeneratedTokens
	// (https://github.com/Azure/AzurePublicDataset).
	Azure TraceFormat = "azure"
	// BurstGPT is the CSV of BurstGPT, with columns Timestamp (seconds),
	// Model, Request tokens and Response tokens
	// (https://github.com/HPMLL/BurstGPT).
	BurstGPT TraceFormat = "burstgpt"
	// Mooncake is the JSON Lines of Mooncake's traces: timestamp
	// (milliseconds), input_length, output_length and hash_ids, each the name
	// of a block of 512 tokens of the prompt, in order
	// (https://github.com/kvcache-ai/Mooncake/tree/main/FAST25-release).
	Mooncake TraceFormat = "mooncake"
	// Bailian is the same as Mooncake with timestamps in seconds and blocks of
	// 16 tokens: Alibaba Cloud's Qwen-Bailian traces
	// (https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon).
	Bailian TraceFormat = "bailian"
)

// A TraceRow is a row of a trace.
type TraceRow struct {
	At            time.Duration // since the first row of the file
	Input, Output int           // tokens of the prompt and of the answer
	Blocks        []uint64      // names of the prompt's first blocks
	Model         string        // BurstGPT only
}

// BlockTokens is how many tokens the blocks of f's traces have; 0 where they
// have none.
func (f TraceFormat) BlockTokens() int { return traceFormats[f].block }

// traceFormats are how traces are read: rows whose At is since an instant that is
// the same for all of them.
var traceFormats = map[TraceFormat]struct {
	read  func(*source) iter.Seq2[TraceRow, error]
	block int // tokens
}{
	Azure:    {csvColumns{"TIMESTAMP", "ContextTokens", "GeneratedTokens", ""}.read(azureTime), 0},
	BurstGPT: {csvColumns{"Timestamp", "Request tokens", "Response tokens", "Model"}.read(seconds), 0},
	Mooncake: {hashed(512, time.Millisecond), 512},
	Bailian:  {hashed(16, time.Second), 16},
}

// csvColumns are the names of a CSV's columns; an empty one is not there.
type csvColumns struct{ at, input, output, model string }

// read returns a reader of such CSV, whose first line names the columns. Others
// are passed over.
func (c csvColumns) read(instant func(string) (time.Duration, error)) func(*source) iter.Seq2[TraceRow, error] {
	return func(s *source) iter.Seq2[TraceRow, error] {
		return func(yield func(TraceRow, error) bool) {
			s.limit = maxRow
			s.record(0)
			lines := csv.NewReader(s)
			lines.ReuseRecord = true
			lines.TrimLeadingSpace = true
			line := 0 // of the last row
			s.line = func() int { return line }
			fields, err := lines.Read()
			if err != nil {
				yield(TraceRow{}, csvError(line, err))
				return
			}
			place := map[string]int{}
			for i, name := range fields {
				place[strings.TrimSpace(name)] = i
			}
			for _, name := range []string{c.at, c.input, c.output, c.model} {
				if _, ok := place[name]; !ok && name != "" {
					yield(TraceRow{}, &lineError{1, fmt.Errorf("there is no column %q; the first line must name the columns", name)})
					return
				}
			}
			for {
				s.record(0)
				fields, err := lines.Read()
				if err == io.EOF {
					return
				}
				if err != nil {
					yield(TraceRow{}, csvError(line, err))
					return
				}
				var r TraceRow
				line, _ = lines.FieldPos(0)
				if r.At, err = instant(fields[place[c.at]]); err != nil {
					err = fmt.Errorf("%s is %q, must be %w", c.at, fields[place[c.at]], err)
				}
				if err == nil {
					r.Input, err = csvTokens(c.input, fields[place[c.input]])
				}
				if err == nil {
					r.Output, err = csvTokens(c.output, fields[place[c.output]])
				}
				if err != nil {
					yield(TraceRow{}, &lineError{line, err})
					return
				}
				if c.model != "" {
					r.Model = strings.Clone(fields[place[c.model]])
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// csvError tells the line that could not be read, which came after another.
func csvError(after int, err error) error {
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		return &lineError{bad.Line, bad.Err}
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &lineError{after + 1, err}
}

func csvTokens(name, text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > mostTokens {
		return 0, fmt.Errorf("%s is %q, must be a whole number of tokens from 0 to %d", name, text, mostTokens)
	}
	return n, nil
}

var errAzureTime = errors.New("an instant like 2023-11-16 18:15:46.6805900 or 2024-05-10 00:00:00.009930+00:00")

// azureTime reads the instants of 2023, without a zone, and of 2024, with one.
func azureTime(text string) (time.Duration, error) {
	at, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		at, err = time.Parse("2006-01-02 15:04:05Z07:00", text)
	}
	if err != nil {
		return 0, errAzureTime
	}
	return at.Sub(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)), nil
}

// mostSeconds is the latest instant of a trace: beyond it durations overflow.
const mostSeconds = 1e9

var errSeconds = fmt.Errorf("a number of seconds from 0 to %g", mostSeconds)

func seconds(text string) (time.Duration, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(x >= 0 && x <= mostSeconds) {
		return 0, errSeconds
	}
	return time.Duration(math.Round(x * float64(time.Second))), nil
}

// hashed returns a reader of JSON Lines with names of blocks of so many
// tokens, and timestamps in that unit.
func hashed(block int, unit time.Duration) func(*source) iter.Seq2[TraceRow, error] {
	want := []string{"timestamp", "input_length", "output_length", "hash_ids"}
	return func(s *source) iter.Seq2[TraceRow, error] {
		return items(s, want, func(o item) (TraceRow, error) { return hashedRow(o, block, unit) })
	}
}

func hashedRow(o item, block int, unit time.Duration) (r TraceRow, err error) {
	at, err := o.number("timestamp")
	if err != nil {
		return r, err
	}
	if most := mostSeconds * float64(time.Second) / float64(unit); !(at >= 0 && at <= most) {
		return r, fmt.Errorf(`"timestamp" is %v, must be from 0 to %g`, at, most)
	}
	r.At = time.Duration(math.Round(at * float64(unit)))
	if r.Input, err = o.tokens("input_length"); err != nil {
		return r, err
	}
	if r.Output, err = o.tokens("output_length"); err != nil {
		return r, err
	}
	v, err := o.value("hash_ids", '[')
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(v, &r.Blocks); err != nil {
		return r, errors.New(`"hash_ids" must be an array of whole numbers from 0 on`)
	}
	if most := (r.Input + block - 1) / block; len(r.Blocks) > most {
		return r, fmt.Errorf(`%d "hash_ids" for %d tokens, must be at most %d, one for each %d tokens`, len(r.Blocks), r.Input, most, block)
	}
	return r, nil
}
