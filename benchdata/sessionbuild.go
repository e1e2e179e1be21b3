package benchdata

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A sessionBuilder makes requests of recorded sessions.
type sessionBuilder struct {
	Sessions
	fit    *fitter
	shared *blocks         // of names that all sessions share; nil before the first one
	seen   map[uint64]bool // the beginnings of prompts that came before, by the names of their blocks

	agents, cut   int
	tokens, known int // of prompts: all, and those that a prefix cache would have
}

func newSessionBuilder(s Sessions) *sessionBuilder {
	s.Tokenizer = orWords(s.Tokenizer)
	return &sessionBuilder{Sessions: s, fit: newFitter(s.Tokenizer), seen: map[uint64]bool{}}
}

// A building is a session whose request is being made.
type building struct {
	*sessionBuilder
	of      *recording
	seed    uint64 // of the session's own words
	salt    salter
	blocks  *blocks
	prompts []hashedPrompt // of the turns
	owners  map[uint64]int // the first turn whose prompt has a beginning
	lengths []int          // tokens of the conversation of each turn, with its answer
	depths  []int

	continued []bool // whether another turn continues the conversation of a turn
}

// request returns the request of a session, and the depth of each turn. Further copies of a session have other words.
func (b *sessionBuilder) request(r *recording, copy int) (llmbench.Request, []int, error) {
	seed := saltedSeed(b.Seed, b.Salt)
	if copy > 0 {
		seed = seedOf(seed, fmt.Sprint("copy ", copy))
	}
	own := seedOf(seed, r.id)
	if r.again > 0 {
		own = seedOf(own, fmt.Sprint("session ", r.again))
	}
	s := &building{
		sessionBuilder: b, of: r, seed: own, owners: map[uint64]int{},
		salt: salter{salt: b.Salt, tok: b.Tokenizer}, prompts: make([]hashedPrompt, len(r.turns)), lengths: make([]int, len(r.turns)), depths: make([]int, len(r.turns)),
		continued: make([]bool, len(r.turns)),
	}
	for _, t := range r.turns {
		if !t.whole && !t.hashed && len(t.after) > 0 {
			s.continued[t.after[0]] = true
		}
	}
	if copy > 0 {
		s.salt.salt = seedOf(b.Salt, fmt.Sprint("copy ", copy))
	}
	if b.shared == nil || b.shared.seed != seed || b.shared.size != r.block {
		b.shared = newBlocks(b.fit, r.block, seed)
	}
	if s.blocks = b.shared; r.own {
		s.blocks = newBlocks(b.fit, r.block, s.seed)
	}
	var request llmbench.Request
	agents := map[string]bool{}
	for i := range r.turns {
		t, err := s.turn(i)
		if err != nil {
			return llmbench.Request{}, nil, fmt.Errorf("turn %d: %w", i, err)
		}
		if agent := r.turns[i].agent; agent != "" && !agents[agent] {
			agents[agent] = true
			b.agents++
		}
		if i == 0 {
			request = llmbench.Request{Messages: t.Messages, MaxTokens: t.MaxTokens, FixedOutput: true, PromptTokens: t.PromptTokens, Reply: t.Reply}
			continue
		}
		request.Then = append(request.Then, t)
	}
	return request, s.depths, nil
}

// turn makes a turn.
func (s *building) turn(i int) (llmbench.Turn, error) {
	of := &s.of.turns[i]
	t := llmbench.Turn{After: of.after, Think: of.delay, Every: of.every, FixedOutput: true, Whole: of.whole || of.hashed || len(of.after) == 0}
	if t.After == nil {
		t.After = []int{}
	}
	if len(of.after) == 0 { // turn 0 is sent at once
		t.Think = max(0, of.delay-s.of.turns[0].delay)
	}
	if t.Think > s.Cap || t.Every > s.Cap {
		s.cut++
		t.Think, t.Every = min(t.Think, s.Cap), min(t.Every, s.Cap)
	}
	s.depths[i] = 1
	if len(of.after) > 0 && (!t.Whole || of.agent == s.of.turns[of.after[0]].agent) {
		s.depths[i] += s.depths[of.after[0]]
	}
	var err error
	if of.hashed {
		err = s.hashed(i, &t)
	} else {
		err = s.said(i, &t)
	}
	s.tokens += t.PromptTokens
	s.lengths[i] = t.PromptTokens + t.MaxTokens
	if t.Reply != "" {
		s.lengths[i] = t.PromptTokens + s.Tokenizer.Count(t.Reply)
	}
	return t, err
}

// said completes a turn that has messages, or a made-up one.
func (s *building) said(i int, t *llmbench.Turn) error {
	of := &s.of.turns[i]
	t.Messages = of.messages
	if !t.Whole {
		t.PromptTokens = s.lengths[t.After[0]]
		s.known += t.PromptTokens
	}
	if len(of.messages) == 0 {
		text, err := newDistinctTexts(s.seed).text(s.fit, "", i, of.input)
		if err != nil {
			return err
		}
		t.Messages = []llmbench.Message{{Role: "user", Content: text}}
	} else if t.Whole && s.salt.salt != 0 {
		first, err := s.salt.replace(of.messages[0].Content)
		if err != nil {
			return err
		}
		t.Messages = append([]llmbench.Message{{Role: of.messages[0].Role, Content: first.text}}, of.messages[1:]...)
	}
	for _, m := range t.Messages {
		t.PromptTokens += s.Tokenizer.Count(m.Content)
	}
	return s.answered(i, t)
}

// answered sets the length of the answer of a turn, and what stands for it.
func (s *building) answered(i int, t *llmbench.Turn) error {
	of := &s.of.turns[i]
	t.MaxTokens = of.output
	thought := s.Tokenizer.Count(of.thought)
	if of.output == 0 && of.reply != "" {
		t.MaxTokens = max(1, thought+s.Tokenizer.Count(of.reply))
	}
	t.MaxTokens = cmp.Or(t.MaxTokens, s.Output, of.usual)
	if t.MaxTokens == 0 {
		return fmt.Errorf("the file has no length of the answer: want an Output, as in output=200")
	}
	switch {
	case s.Replies == Own:
	case s.Replies == Recorded && of.reply == "" && s.continued[i]:
		return fmt.Errorf("the file has no answer, and replies are %s: want %s or %s", Recorded, MadeUp, Own)
	case s.Replies == Recorded:
		t.Reply = of.reply
	case s.continued[i]:
		var err error
		t.Reply, err = s.fit.text("", nil, max(1, t.MaxTokens-thought), seeded(s.seed, 1<<32+uint64(i)))
		return err
	}
	return tokenizerError(s.Tokenizer)
}

// A hashedPrompt is a prompt of named blocks: whole blocks in messages, and then a text that is shorter than a block.
type hashedPrompt struct {
	pieces []piece
	whole  int // number of whole blocks
}

// A piece is the part of a message that consists of whole blocks.
type piece struct {
	role   string
	blocks []uint64
	text   string
}

// hashed completes a turn whose prompt is named blocks. Of the prompts before it, it continues the one with which it has the most blocks in
// common. If it has all of that prompt's, and waits for that turn, what comes after them is first the answer.
func (s *building) hashed(i int, t *llmbench.Turn) error {
	of := &s.of.turns[i]
	if s.Replies != MadeUp {
		return fmt.Errorf("its prompt is names of blocks, with a made-up text, and replies are %s: want %s", s.Replies, MadeUp)
	}
	size := s.of.block
	p := &s.prompts[i]
	p.whole = min(len(of.blocks), of.input/size)
	kept, owner := s.common(i, of.blocks[:p.whole])
	answer := 0 // number of blocks of the answer
	if kept > 0 {
		before := &s.prompts[owner]
		var err error
		if p.pieces, err = s.firstOf(before.pieces, kept); err != nil {
			return err
		}
		if kept == before.whole && len(of.after) > 0 && of.after[0] == owner {
			answer = min((s.of.turns[owner].output+size-1)/size, p.whole-kept)
		}
	}
	tail := of.input - p.whole*size
	if tail == 0 && answer > 0 && kept+answer == p.whole {
		answer-- // the last message is the user's
	}
	if err := s.addPiece(p, "assistant", of.blocks[kept:kept+answer]); err != nil {
		return err
	}
	if err := s.addPiece(p, "user", of.blocks[kept+answer:p.whole]); err != nil {
		return err
	}
	for _, one := range p.pieces {
		t.Messages = append(t.Messages, llmbench.Message{Role: one.role, Content: one.text})
	}
	if tail > 0 {
		random := seeded(s.seed, 1<<40+uint64(i))
		if len(of.blocks) > p.whole {
			random = seeded(s.blocks.seed, of.blocks[p.whole])
		}
		text, err := s.fit.text("", nil, tail, random)
		if err != nil {
			return err
		}
		if last := len(t.Messages) - 1; last >= 0 && t.Messages[last].Role == "user" {
			t.Messages[last].Content += " " + text
		} else {
			t.Messages = append(t.Messages, llmbench.Message{Role: "user", Content: text})
		}
	}
	t.PromptTokens = of.input
	return s.answered(i, t)
}

// common returns with how many blocks an earlier prompt of the session begins in the same way, and the first such turn. It counts
// what a prefix cache would have, and adds the prompt to what came before.
func (s *building) common(i int, names []uint64) (kept, owner int) {
	path := s.blocks.seed // of the beginning
	cached := true
	for k, name := range names {
		path = (path^name)*0x9e3779b97f4a7c15 + uint64(k)
		path ^= path >> 29
		if first, has := s.owners[path]; has {
			kept, owner = k+1, first
		} else {
			s.owners[path] = i
		}
		if cached = cached && s.seen[path]; cached {
			s.known += s.of.block
		}
		s.seen[path] = true
	}
	return kept, owner
}

// firstOf returns the pieces with the first n blocks.
func (s *building) firstOf(pieces []piece, n int) (first []piece, err error) {
	for _, one := range pieces {
		if n == 0 {
			break
		}
		if len(one.blocks) > n {
			one.blocks = one.blocks[:n]
			if one.text, err = s.textOf(one.blocks, len(first) == 0); err != nil {
				return nil, err
			}
		}
		n -= len(one.blocks)
		first = append(first, one)
	}
	return first, nil
}

// addPiece adds blocks to the last piece of a prompt if that has the same role, or as a new one.
func (s *building) addPiece(p *hashedPrompt, role string, names []uint64) error {
	if len(names) == 0 {
		return nil
	}
	if last := len(p.pieces) - 1; last >= 0 && p.pieces[last].role == role {
		names = append(p.pieces[last].blocks[:len(p.pieces[last].blocks):len(p.pieces[last].blocks)], names...)
		p.pieces = p.pieces[:last:last]
	}
	text, err := s.textOf(names, len(p.pieces) == 0)
	p.pieces = append(p.pieces[:len(p.pieces):len(p.pieces)], piece{role, names, text})
	return err
}

// textOf returns the text of whole blocks at the beginning of a message. The argument first says that the message is the first one.
func (s *building) textOf(names []uint64, first bool) (string, error) {
	var text strings.Builder
	for k, name := range names {
		block, err := s.blocks.block(blockName{name, first && k == 0})
		if err != nil {
			return "", err
		}
		if k == 0 {
			block = strings.TrimPrefix(block, " ")
		}
		text.WriteString(block)
	}
	return text.String(), nil
}
