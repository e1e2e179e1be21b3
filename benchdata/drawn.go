package benchdata

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Drawn is the workload "random" with lengths that are drawn from distributions, and with a Source the workload "markov". The
// text is random words, as in [Prompts], or words of the Source, and each prompt has exactly the length that was drawn.
//
// Requests(n) returns the first n requests of Requests(n+1). The lengths of answers do not depend on the distribution of
// the lengths of prompts, and vice versa.
type Drawn struct {
	// Input and Output are the distributions of the lengths of prompts and of answers. Both are set, or else Path.
	Input, Output *Distribution
	// Path is a file of the lengths of prompts and answers that belong together, as a histogram in two dimensions. It
	// may be compressed by gzip or zstd. The file is CSV whose first line names the columns input, output and, if
	// rows are not equally likely, weight. A cell of input or output is a distribution as of [ParseLength], such as
	// 512 or 128..255; it is in quotation marks if it has a comma. Weights are counts or other numbers, at least 0.
	// For each request a row is drawn by weight, and then its two lengths.
	Path string
	// Source draws the words; nil means random words. The first two words of a prompt are random in any case, so that no two
	// prompts have a common prefix.
	Source *Source
	// SharedPrefix is the number of tokens at the beginning that are the same in all prompts. The lengths of prompts
	// include them, and a prompt has at least one token more.
	SharedPrefix int
	// Seed determines lengths and words. Salt changes the words but not the lengths.
	Seed, Salt uint64
	// Template is the number of tokens that the server adds to each prompt. Lengths include them, and a prompt has at
	// least one token more.
	Template int
	// Tokenizer counts tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns n requests with FixedOutput set. It returns an error if n or a field is out of range, or if the file
// cannot be read or has another format.
func (d Drawn) Requests(n int) ([]llmbench.Request, error) {
	name := "random"
	if d.Source != nil {
		name = "markov"
	}
	if err := d.check(n); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	lengths := lengthTable{rows: []lengthRow{{d.Input, d.Output, 1}}}
	if d.Path != "" {
		var err error
		if lengths, err = readFile(name, d.Path, readLengths); err != nil {
			return nil, err
		}
	}
	random := rand.New(rand.NewPCG(d.Seed, 6))
	requests := make([]llmbench.Request, n)
	for i := range requests {
		input, output := lengths.draw(random)
		requests[i] = llmbench.Request{MaxTokens: output, FixedOutput: true, PromptTokens: max(input, d.SharedPrefix+d.Template+1)}
	}
	fit := newFitter(orWords(d.Tokenizer))
	fit.source = d.Source
	if err := fill(requests, d.SharedPrefix, d.Template, saltedSeed(d.Seed, d.Salt), fit); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return requests, nil
}

func (d Drawn) check(n int) error {
	switch {
	case n < 1:
		return fmt.Errorf("%d requests: want at least 1", n)
	case (d.Input == nil) != (d.Output == nil) || (d.Input == nil) == (d.Path == ""):
		return errors.New("fields Input, Output and Path: want both of the distributions, or the path")
	case d.SharedPrefix < 0 || d.SharedPrefix > mostTokens || d.Template < 0 || d.Template > mostTokens:
		return fmt.Errorf("fields SharedPrefix and Template are %d and %d tokens: want from 0 to %d", d.SharedPrefix, d.Template, mostTokens)
	}
	return nil
}

// A lengthTable has the lengths of prompts and answers that belong together.
type lengthTable struct {
	rows []lengthRow
	// upTo has for each row the probability of this row and the rows before it in steps of 2^-32. It is nil if there is
	// one row.
	upTo []uint64
}

type lengthRow struct {
	input, output *Distribution
	weight        float64
}

// draw returns the lengths of a prompt and an answer. It always takes three numbers from random.
func (t lengthTable) draw(random *rand.Rand) (input, output int) {
	step := uint64(random.Uint32())
	row := t.rows[sort.Search(len(t.upTo), func(i int) bool { return t.upTo[i] > step })]
	return int(row.input.Draw(random)), int(row.output.Draw(random))
}

// lengthColumns are the columns of the file of [Drawn]. The last one may be missing.
var lengthColumns = []string{"input", "output", "weight"}

// readLengths reads the file of [Drawn].
func readLengths(s *source) (t lengthTable, err error) {
	sum, before := 0.0, 0.0
	for row, err := range csvRows(s, readLengthRow, lengthColumns[:2]...) {
		if err != nil {
			return lengthTable{}, err
		}
		if row.weight > 0 {
			t.rows = append(t.rows, row)
			sum += row.weight
		}
	}
	if len(t.rows) == 0 {
		return lengthTable{}, errors.New("no row has a weight: want at least one above 0")
	}
	for _, row := range t.rows {
		before += row.weight
		t.upTo = append(t.upTo, toSteps(before/sum))
	}
	return t, nil
}

// readLengthRow reads a row.
func readLengthRow(row csvRow) (r lengthRow, err error) {
	known := 0
	for _, column := range lengthColumns {
		if row.has(column) {
			known++
		}
	}
	if known != len(row.fields) {
		return r, fmt.Errorf("%d columns: want %s, each at most once, and no others", len(row.fields), strings.Join(lengthColumns, ", "))
	}
	if r.input, err = ParseLength(row.cell("input")); err != nil {
		return r, fmt.Errorf("input is %q: %w", row.cell("input"), err)
	}
	if r.output, err = ParseLength(row.cell("output")); err != nil {
		return r, fmt.Errorf("output is %q: %w", row.cell("output"), err)
	}
	r.weight = 1
	if row.has("weight") {
		var ok bool
		if r.weight, ok = parseNumber(strings.TrimSpace(row.cell("weight"))); !ok || r.weight < 0 || r.weight > mostWeight {
			return r, fmt.Errorf("weight is %q: want a number from 0 to %g", row.cell("weight"), float64(mostWeight))
		}
	}
	return r, nil
}
