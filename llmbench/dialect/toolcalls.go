package dialect

// toolCalls reads the next value, an array of tool calls in the form of OpenAI's chat API. Ollama's tool calls have
// the same form, except that the arguments are an object instead of a string.
func (p *baseParser) toolCalls() { p.w.Array(p.toolCall) }

func (p *baseParser) toolCall() { p.w.Object(p.toolCallMember) }

func (p *baseParser) toolCallMember(name []byte) {
	switch string(name) {
	case "function":
		p.function()
	case "custom": // OpenAI
		p.function()
	case "id", "index", "type", "call_id", "extra_content", "provider_specific_fields", "thought_signature": // the last three: Gemini, LiteLLM
	default:
		p.unknownMember("tool_calls[].", name)
	}
}

// function reads the next value, an object with a name and arguments.
func (p *baseParser) function() { p.w.Object(p.functionMember) }

func (p *baseParser) functionMember(name []byte) {
	switch string(name) {
	case "name":
		p.toolName()
	case "arguments", "input": // input: of OpenAI's custom tools
		p.d.ToolCall = p.w.TextOrRaw(p.d.ToolCall)
	case "index", "id", "description", "parsed_arguments", "thought_signature":
	default:
		p.unknownMember("function.", name)
	}
}
