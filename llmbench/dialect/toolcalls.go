package dialect

// toolCalls reads the next value, an array of tool calls in the form of OpenAI's chat API. Ollama's tool calls have
// the same form, except that the arguments are an object instead of a string.
func (p *baseParser) toolCalls() { p.w.Array(p.toolCall) }

func (p *baseParser) toolCall() { p.w.Object(p.toolCallMember) }

func (p *baseParser) toolCallMember(name []byte) {
	if string(name) == "function" {
		p.function()
	}
}

// function reads the next value, an object with a name and arguments.
func (p *baseParser) function() { p.w.Object(p.functionMember) }

func (p *baseParser) functionMember(name []byte) {
	switch string(name) {
	case "name":
		p.toolName()
	case "arguments":
		p.d.ToolCall = p.w.TextOrRaw(p.d.ToolCall)
	}
}
