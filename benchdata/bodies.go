package benchdata

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Bodies is a file of recorded requests to /v1/chat/completions. The file has the bodies of
// the requests, as JSON Lines or as one JSON array. Each body has "messages", and may limit the
// answer by "max_completion_tokens" or "max_tokens". This is SGLang's data set "openai"
// (openai_dataset.py in
// https://github.com/sgl-project/sglang/tree/main/python/sglang/benchmark/datasets),
// which takes the bodies in the order of the file.
//
// The messages are sent unchanged, except that a content in several parts is joined to one
// text. Members for sampling (such as temperature), the model and streaming are ignored,
// because [llmbench.Target] and [llmbench.Load] set these. A member that makes a different
// kind of request is an error: images, tools, response_format, stop strings, and all unknown
// members.
type Bodies struct {
	// Path is the file that Requests reads. The file may be compressed by gzip or
	// zstd.
	Path string
	// Output limits every answer, in tokens. 0 means the limit in each body, or
	// 256, SGLang's default, if the body has no limit.
	Output int
	// FixedOutput makes the server generate the full length of each answer.
	FixedOutput bool
	// NoRepeat returns fewer than n requests if the file has fewer than n bodies. Without
	// NoRepeat, bodies are used more than once.
	NoRepeat bool
	// Seed, if not 0, shuffles the bodies; if there are fewer than n, more are drawn from
	// them with replacement. 0 takes the bodies in the order of the file, and repeats them
	// in that order.
	Seed uint64
	// Salt, if not 0, replaces the beginning of each first message: see [Options].Salt.
	Salt uint64
	// Tokenizer counts the tokens of the messages; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// ignoredMembers are members of bodies that are ignored, because the target and the load set
// these values.
var ignoredMembers = []string{
	"model", "stream", "stream_options", "temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty",
	"repetition_penalty", "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "ignore_eos", "min_tokens",
}

// Requests returns n requests from the file at Path. Their PromptTokens is the total length of
// the messages, counted by the Tokenizer, without the tokens of a chat template. Requests
// returns an error if n or a field is out of range, if the file cannot be read or has no body,
// or if a body cannot be sent. The error names the line of such a body.
func (b Bodies) Requests(n int) ([]llmbench.Request, error) {
	return readFile("openai", b.Path, func(s *source) ([]llmbench.Request, error) { return b.read(s, n) })
}

// Read is like Requests for a file that is read from r.
func (b Bodies) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom("openai", r, func(s *source) ([]llmbench.Request, error) { return b.read(s, n) })
}

func (b Bodies) read(s *source, n int) ([]llmbench.Request, error) {
	switch {
	case n < 1:
		return nil, fmt.Errorf("%d requests: want at least 1", n)
	case b.Output < 0 || b.Output > mostTokens:
		return nil, fmt.Errorf("field Output is %d tokens: want from 1 to %d, or 0 for the bodies' own", b.Output, mostTokens)
	}
	sample := newSampler(n, b.Seed, b.Seed != 0)
	tok := orWords(b.Tokenizer)
	err := add(sample, values(s, false, b.body), tok, func(r llmbench.Request) (llmbench.Request, bool) {
		for _, m := range r.Messages {
			r.PromptTokens += tok.Count(m.Content)
		}
		return r, true
	})
	if err != nil {
		return nil, err
	}
	if len(sample.kept) == 0 {
		return nil, errors.New("the file has no bodies of requests")
	}
	return saltTexts(sample.requests(!b.NoRepeat), b.Salt, tok)
}

// body reads one body.
func (b Bodies) body(d *jsontext.Decoder) (llmbench.Request, error) {
	r := llmbench.Request{FixedOutput: b.FixedOutput}
	var problem error
	limits := item{}
	err := members(d, "the record", func(name string) error {
		var invalid error
		switch {
		case name == "messages":
			v, err := d.ReadValue()
			if err != nil {
				return err
			}
			r.Messages, invalid = bodyMessages(v)
		case name == "max_tokens" || name == "max_completion_tokens":
			v, err := d.ReadValue()
			if err != nil {
				return err
			}
			limits[name] = v.Clone()
		case d.PeekKind() == 'n' || slices.Contains(ignoredMembers, name):
			return d.SkipValue()
		default:
			invalid = fmt.Errorf("member %q cannot be sent", name)
			if err := d.SkipValue(); err != nil {
				return err
			}
		}
		if problem == nil {
			problem = invalid
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	if problem == nil && len(r.Messages) == 0 {
		problem = errors.New(`there are no "messages": want an array with at least one message`)
	}
	if problem == nil {
		r.MaxTokens, problem = b.limit(limits)
	}
	if problem != nil {
		return r, &contentError{problem}
	}
	return r, nil
}

// limit returns the limit of the answer in tokens.
func (b Bodies) limit(limits item) (int, error) {
	if b.Output > 0 {
		return b.Output, nil
	}
	for _, name := range []string{"max_completion_tokens", "max_tokens"} {
		if !limits.has(name) {
			continue
		}
		n, err := limits.tokens(name)
		if err == nil && n == 0 {
			err = fmt.Errorf("%q is 0: want at least 1", name)
		}
		return n, err
	}
	return 256, nil
}

// bodyMessages reads "messages". Contents may be in parts.
func bodyMessages(v jsontext.Value) ([]llmbench.Message, error) {
	var all []map[string]jsontext.Value
	if err := json.Unmarshal(v, &all, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, errors.New(`"messages": want an array of objects`)
	}
	messages := make([]llmbench.Message, len(all))
	for i, m := range all {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if name != "role" && name != "content" && m[name].Kind() != 'n' {
				return nil, fmt.Errorf("message %d: member %q cannot be sent", i, name)
			}
		}
		role, err := item(m).text("role")
		if err == nil && !slices.Contains([]string{"system", "developer", "user", "assistant"}, role) {
			err = fmt.Errorf(`"role" is %q: want system, developer, user or assistant`, role)
		}
		var content string
		if err == nil {
			content, err = bodyContent(item(m))
		}
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		messages[i] = llmbench.Message{Role: role, Content: content}
	}
	return messages, nil
}

// bodyContent reads the text of a message.
func bodyContent(m item) (string, error) {
	if v := m["content"]; v.Kind() != '[' {
		return m.text("content")
	}
	var parts []map[string]jsontext.Value
	if err := json.Unmarshal(m["content"], &parts, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return "", errors.New(`"content": want a string or an array of parts`)
	}
	var text strings.Builder
	for i, p := range parts {
		kind, err := item(p).text("type")
		if err == nil && kind != "text" {
			err = fmt.Errorf(`"type" is %q: want text`, kind)
		}
		var part string
		if err == nil {
			part, err = item(p).text("text")
		}
		if err != nil {
			return "", fmt.Errorf("part %d: %w", i, err)
		}
		text.WriteString(part)
	}
	return text.String(), nil
}
