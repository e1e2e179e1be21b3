package router

import (
	"encoding/json"
	"hash/fnv"
)

// prompt returns the text of the prompt of a request to OpenAI's chat completions or completions, or "" if
// the body has none. The texts of messages follow one another.
func prompt(body []byte) string {
	var request struct {
		Prompt   json.RawMessage
		Messages []struct{ Content json.RawMessage }
	}
	if json.Unmarshal(body, &request) != nil {
		return ""
	}
	all := text(request.Prompt)
	for _, m := range request.Messages {
		all += text(m.Content) + "\n"
	}
	return all
}

// text returns the text of a JSON string, or of an array of parts with texts.
func text(raw json.RawMessage) (all string) {
	if json.Unmarshal(raw, &all) == nil {
		return all
	}
	var parts []struct{ Text string }
	json.Unmarshal(raw, &parts)
	for _, p := range parts {
		all += p.Text
	}
	return all
}

// blockBytes is the number of bytes in a block of a prompt.
const blockBytes = 64

// blocks returns the names of a prompt's full blocks. A prompt that is shorter than a block has one name.
func blocks(prompt string) (names []uint64) {
	hash := fnv.New64a()
	for len(prompt) >= blockBytes {
		hash.Write([]byte(prompt[:blockBytes]))
		names = append(names, hash.Sum64())
		prompt = prompt[blockBytes:]
	}
	if len(names) == 0 {
		hash.Write([]byte(prompt))
		names = append(names, hash.Sum64())
	}
	return names
}
