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

// A TraceFormat is the format of the file of a [Trace].
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
	// Mooncake is the JSON Lines of Mooncake's traces
	// (https://github.com/kvcache-ai/Mooncake/tree/main/FAST25-release). Each object has
	// timestamp (milliseconds), input_length, output_length and hash_ids. The latter are the
	// names of the prompt's blocks of 512 tokens, in order.
	Mooncake TraceFormat = "mooncake"
	// Bailian is the format of Alibaba Cloud's Qwen-Bailian traces
	// (https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon). It is Mooncake's
	// format with timestamps in seconds and blocks of 16 tokens.
	Bailian TraceFormat = "bailian"
)

// A TraceRow is a row of a trace.
type TraceRow struct {
	At            time.Duration // arrival time since the first row of the file
	Input, Output int           // numbers of tokens in the prompt and in the answer
	Blocks        []uint64      // names of the prompt's first blocks, if the format has names
	Model         string        // the model's name, only in BurstGPT traces
}

// BlockTokens returns the number of tokens in a block, or 0 if the format does not name
// blocks.
func (f TraceFormat) BlockTokens() int { return traceFormats[f].block }

// traceFormats has a reader for each format. In its rows, At is measured from any fixed
// instant; rows subtracts the first row's At.
var traceFormats = map[TraceFormat]struct {
	read  func(*source) iter.Seq2[TraceRow, error]
	block int // number of tokens in a block, 0 if blocks have no names
}{
	Azure:    {csvColumns{"TIMESTAMP", "ContextTokens", "GeneratedTokens", ""}.read(azureTime), 0},
	BurstGPT: {csvColumns{"Timestamp", "Request tokens", "Response tokens", "Model"}.read(seconds), 0},
	Mooncake: {hashed(512, time.Millisecond), 512},
	Bailian:  {hashed(16, time.Second), 16},
}

// csvColumns has the names of columns. A name is empty if the format does not have the
// column.
type csvColumns struct{ at, input, output, model string }

// read returns a function that reads CSV whose first line names the columns. It ignores other
// columns. instant parses a time.
func (c csvColumns) read(instant func(string) (time.Duration, error)) func(*source) iter.Seq2[TraceRow, error] {
	return func(s *source) iter.Seq2[TraceRow, error] {
		return csvRows(s, func(row csvRow) (r TraceRow, err error) {
			if r.At, err = instant(row.cell(c.at)); err != nil {
				return r, fmt.Errorf("%s is %q: want %w", c.at, row.cell(c.at), err)
			}
			if r.Input, err = csvTokens(c.input, row.cell(c.input)); err != nil {
				return r, err
			}
			if r.Output, err = csvTokens(c.output, row.cell(c.output)); err != nil {
				return r, err
			}
			if c.model != "" {
				r.Model = strings.Clone(row.cell(c.model))
			}
			return r, nil
		}, c.at, c.input, c.output, c.model)
	}
}

// A csvRow is a line of CSV. It is valid until the next line is read.
type csvRow struct {
	place  map[string]int // index of each column
	fields []string
}

// has reports whether there is a column.
func (r csvRow) has(column string) bool { _, has := r.place[column]; return has }

// cell returns the text in a column that exists.
func (r csvRow) cell(column string) string { return r.fields[r.place[column]] }

// csvRows yields what read makes of each line of CSV, whose first line names the columns. It is an error if the column
// with a name in want is missing, unless the name is empty.
func csvRows[T any](s *source, read func(csvRow) (T, error), want ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		s.limit = maxRow
		s.record(0)
		lines := csv.NewReader(s)
		lines.ReuseRecord = true
		lines.TrimLeadingSpace = true
		line := 0 // line of the last row read
		s.line = func() int { return line }
		fields, err := lines.Read()
		if err != nil {
			yield(none, csvError(line, err))
			return
		}
		row := csvRow{place: map[string]int{}}
		for i, name := range fields {
			row.place[strings.TrimSpace(name)] = i
		}
		for _, name := range want {
			if name != "" && !row.has(name) {
				yield(none, &lineError{Line: 1, Err: fmt.Errorf("the first line has no column %q, must name all columns", name)})
				return
			}
		}
		for {
			s.record(0)
			row.fields, err = lines.Read()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(none, csvError(line, err))
				return
			}
			line, _ = lines.FieldPos(0)
			r, err := read(row)
			if err != nil {
				yield(none, &lineError{Line: line, Err: err})
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// csvError adds a line to an error of the CSV reader. If the error has no line, csvError uses
// the line after after, the last line that was read.
func csvError(after int, err error) error {
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		return &lineError{Line: bad.Line, Err: bad.Err}
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &lineError{Line: after + 1, Err: err}
}

// csvTokens parses a number of tokens. The error names the column.
func csvTokens(name, text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > mostTokens {
		return 0, fmt.Errorf("%s is %q: want a whole number of tokens from 0 to %d", name, text, mostTokens)
	}
	return n, nil
}

// errAzureTime describes a valid time of an Azure trace. It ends an error message after "must
// be".
var errAzureTime = errors.New("a time like 2023-11-16 18:15:46.6805900 or 2024-05-10 00:00:00.009930+00:00")

// azureTime parses a time of an Azure trace. Times in the traces of 2023 have no time zone;
// times in the traces of 2024 have one.
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

// mostSeconds is the largest time in a trace. Larger times could overflow durations.
const mostSeconds = 1e9

// errSeconds describes a valid time in seconds. It ends an error message after "must be".
var errSeconds = fmt.Errorf("a number of seconds from 0 to %g", mostSeconds)

// seconds parses a time in seconds.
func seconds(text string) (time.Duration, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(x >= 0 && x <= mostSeconds) {
		return 0, errSeconds
	}
	return time.Duration(math.Round(x * float64(time.Second))), nil
}

// hashed returns a function that reads JSON Lines with names of blocks. block is the number of
// tokens in a block, and unit is the unit of timestamps.
func hashed(block int, unit time.Duration) func(*source) iter.Seq2[TraceRow, error] {
	want := []string{"timestamp", "input_length", "output_length", "hash_ids"}
	return func(s *source) iter.Seq2[TraceRow, error] {
		return items(s, want, func(o item) (TraceRow, error) { return hashedRow(o, block, unit) })
	}
}

// hashedRow parses one row.
func hashedRow(o item, block int, unit time.Duration) (r TraceRow, err error) {
	at, err := o.number("timestamp")
	if err != nil {
		return r, err
	}
	if most := mostSeconds * float64(time.Second) / float64(unit); !(at >= 0 && at <= most) {
		return r, fmt.Errorf(`"timestamp" is %v: want from 0 to %g`, at, most)
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
		return r, errors.New(`"hash_ids": want an array of whole numbers, at least 0`)
	}
	if most := (r.Input + block - 1) / block; len(r.Blocks) > most {
		return r, fmt.Errorf(`%d "hash_ids" for %d tokens: want at most %d, one for each %d tokens`, len(r.Blocks), r.Input, most, block)
	}
	return r, nil
}
