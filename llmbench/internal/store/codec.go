package store

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A codec writes a sample to data, or reads a sample from data. The same methods do both, so
// that no field is read in another place than it was written.
type codec struct {
	data    []byte
	reading bool
	bad     bool              // the data to be read are not what a codec wrote
	words   map[string]string // texts that many samples have, each in memory once
}

// errForeign is the error of data that are not a sample.
var errForeign = errors.New("the file is not as it was written")

// encode returns s as bytes, which are valid until the next call.
func (c *codec) encode(s *sample.Sample) []byte {
	c.data = c.data[:0]
	c.sample(s)
	return c.data
}

// decode sets s, which is zero, to what encode had. It does not keep data.
func (c *codec) decode(data []byte, s *sample.Sample) error {
	c.data, c.bad = data, false
	if c.sample(s); c.bad || len(c.data) > 0 {
		return errForeign
	}
	return nil
}

// sample is the format: every field of a sample.
func (c *codec) sample(s *sample.Sample) {
	c.text(&s.ID)
	c.ints(&s.Shard, &s.Pass, &s.Request, &s.Turn)
	c.epoch(&s.Epoch)
	c.flags(&s.Scheduled, &s.Streamed, &s.UsageAlone, &s.ResentUnread, &s.FixedOutput)
	c.durations(&s.Due, &s.Granted, &s.Admitted, &s.Start, &s.SentBy, &s.Connect, &s.Wrote, &s.FirstByte, &s.End)
	c.ints(&s.InFlight, &s.Resent, &s.Events, &s.Deltas, &s.Cut, &s.Outputs)
	c.durations(&s.First, &s.Last, &s.FirstOutput, &s.FirstByteLag, &s.EndLag)
	c.lists(&s.Gaps, &s.Lags)
	c.tokens(&s.DeltaTokens)
	c.merged(&s.Merged)
	c.durations(&s.EventLags.FirstOutput, &s.EventLags.ChoiceFirst, &s.EventLags.ChoiceLast, &s.EventLags.LastEvent, &s.EventLags.Done)
	c.ints(&s.Choices.Before, &s.Choices.Amid, &s.Choices.After)
	c.durations(&s.Choices.First, &s.Choices.Last, &s.LastEvent, &s.Done, &s.RetryAfter)
	c.ints(&s.MaxTokens, &s.AskedTokens, &s.PromptTokens, &s.CachedTokens, &s.OutputTokens, &s.TextTokens, &s.ReasoningTokens, &s.PromptChars, &s.OutputChars, &s.Status)
	word(c, &s.Clock)
	word(c, &s.TokenSource)
	word(c, &s.Outcome)
	word(c, &s.Finish)
	c.failure(&s.Err)
	t := &s.Server
	c.durations(&t.Load, &t.Queue, &t.Prompt, &t.Predict, &t.Total)
	c.ints(&t.PromptTokens, &t.CachedTokens, &t.OutputTokens, &t.DraftTokens, &t.AcceptedTokens, &t.DecodeSteps)
	c.flags(&s.Checked, &s.Correct)
	c.text(&s.Wrong)
	c.answer(&s.Answer)
}

// int writes or reads a whole number.
func (c *codec) int(v int64) int64 {
	if !c.reading {
		c.data = binary.AppendVarint(c.data, v)
		return v
	}
	v, n := binary.Varint(c.data)
	if n <= 0 {
		c.data, c.bad = nil, true
		return 0
	}
	c.data = c.data[n:]
	return v
}

func (c *codec) ints(all ...*int) {
	for _, v := range all {
		*v = int(c.int(int64(*v)))
	}
}

func (c *codec) durations(all ...*time.Duration) {
	for _, v := range all {
		*v = time.Duration(c.int(int64(*v)))
	}
}

// flag writes or reads a truth value.
func (c *codec) flag(v bool) bool {
	var n int64
	if v {
		n = 1
	}
	return c.int(n) == 1
}

func (c *codec) flags(all ...*bool) {
	for _, v := range all {
		*v = c.flag(*v)
	}
}

// length writes or reads the number of the elements that follow, each of at least one byte.
func (c *codec) length(n int) int {
	n = int(c.int(int64(n)))
	if c.reading && (n < 0 || n > len(c.data)) {
		c.data, c.bad = nil, true
		return 0
	}
	return n
}

// bytes writes text, or reads the bytes of a text, which are part of data.
func (c *codec) bytes(text string) []byte {
	n := c.length(len(text))
	if !c.reading {
		c.data = append(c.data, text...)
		return nil
	}
	read := c.data[:n]
	c.data = c.data[n:]
	return read
}

func (c *codec) text(s *string) {
	if read := c.bytes(*s); c.reading {
		*s = string(read)
	}
}

// word writes or reads a text that many samples have.
func word[T ~string](c *codec, s *T) {
	read := c.bytes(string(*s))
	if !c.reading {
		return
	}
	known, ok := c.words[string(read)]
	if !ok {
		known = string(read)
		if len(c.words) < 1<<12 {
			c.words[known] = known
		}
	}
	*s = T(known)
}

// epoch writes or reads an instant of the wall clock; the zero instant is none.
func (c *codec) epoch(t *time.Time) {
	if !c.flag(!t.IsZero()) {
		return
	}
	if n := c.int(t.UnixNano()); c.reading {
		*t = time.Unix(0, n)
	}
}

// lists writes or reads two lists of durations. Those that are read share an array. An empty
// list is read as nil.
func (c *codec) lists(a, b *[]time.Duration) {
	n, m := c.length(len(*a)), c.length(len(*b))
	if c.reading {
		if n+m > len(c.data) {
			c.data, c.bad = nil, true
			return
		}
		all := make([]time.Duration, n+m)
		if n > 0 {
			*a = all[:n:n]
		}
		if m > 0 {
			*b = all[n:]
		}
	}
	for _, list := range [][]time.Duration{*a, *b} {
		for i, d := range list {
			list[i] = time.Duration(c.int(int64(d)))
		}
	}
}

// tokens writes or reads the tokens of deltas. An empty list is read as nil.
func (c *codec) tokens(all *[]int32) {
	n := c.length(len(*all))
	if c.reading && n > 0 {
		*all = make([]int32, n)
	}
	for i, v := range *all {
		(*all)[i] = int32(c.int(int64(v)))
	}
}

// merged writes or reads the deltas whose instants are not known exactly; nearly always none.
func (c *codec) merged(all *[]sample.Merged) {
	n := c.length(len(*all))
	if c.reading && n > 0 {
		*all = make([]sample.Merged, n)
	}
	for i := range *all {
		m := &(*all)[i]
		c.ints(&m.Delta, &m.Deltas)
		c.durations(&m.Since)
	}
}

// failure writes or reads an error, of which the text remains.
func (c *codec) failure(err *error) {
	text := ""
	if *err != nil {
		text = (*err).Error()
	}
	if !c.flag(*err != nil) {
		return
	}
	if c.text(&text); c.reading {
		*err = errors.New(text)
	}
}

func (c *codec) answer(a **sample.Answer) {
	if !c.flag(*a != nil) {
		return
	}
	if c.reading {
		*a = &sample.Answer{}
	}
	c.text(&(*a).Text)
	c.text(&(*a).Reasoning)
	c.text(&(*a).ToolNames)
	c.text(&(*a).ToolCalls)
}
