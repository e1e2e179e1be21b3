package ask

// writeChat writes a request of OpenAI's chat API (https://platform.openai.com/docs/api-reference/chat/create).
func writeChat(r Request) object {
	o := chatMessages(r)
	choice := r.choice("required", object{"type": "function", "function": object{"name": r.Choice}})
	o = set(o, object{"tools": chatTools(r.Tools), "tool_choice": choice, "stop": r.Stop})
	if r.Stream {
		o["stream_options"] = object{"include_usage": true}
	}
	return o
}

// chatMessages returns the members that the chat APIs of OpenAI and Cohere have in common.
func chatMessages(r Request) object {
	var messages []any
	if r.System != "" {
		messages = append(messages, object{"role": "system", "content": r.System})
	}
	for _, turns := range r.groups() {
		var plain []Turn
		var calls []any
		for _, t := range turns {
			switch t.Kind {
			case Call:
				calls = append(calls, object{"id": t.ID, "type": "function", "function": object{"name": t.Name, "arguments": t.Text}})
			case Result:
				messages = append(messages, object{"role": "tool", "tool_call_id": t.ID, "content": t.Text})
			default:
				plain = append(plain, t)
			}
		}
		switch {
		case calls != nil:
			messages = append(messages, set(object{"role": Assistant, "tool_calls": calls}, object{"content": chatContent(plain)}))
		case plain != nil:
			messages = append(messages, object{"role": turns[0].Role, "content": chatContent(plain)})
		}
	}
	return object{"model": r.Model, "messages": messages, "max_tokens": r.MaxTokens, "temperature": r.Temperature, "stream": r.Stream}
}

// chatContent returns texts and images as the content of a message: a string, or parts.
func chatContent(turns []Turn) any {
	var parts []any
	for _, t := range turns {
		if t.Kind == Image {
			parts = append(parts, object{"type": "image_url", "image_url": object{"url": dataURL(t)}})
			continue
		}
		if len(turns) == 1 {
			return t.Text
		}
		parts = append(parts, object{"type": "text", "text": t.Text})
	}
	if parts == nil {
		return nil
	}
	return parts
}

// chatTools returns tools in the form of OpenAI's chat API, which Cohere and Ollama have, too.
func chatTools(tools []Tool) (all []any) {
	for _, t := range tools {
		all = append(all, object{"type": "function", "function": t.function("parameters")})
	}
	return all
}

func readChat(v any) Request {
	r := readMessages(v)
	r.MaxTokens, r.Stop = int(number(at(v, "max_completion_tokens", "max_tokens"))), stops(at(v, "stop"))
	switch choice := at(v, "tool_choice").(type) {
	case string:
		if choice == "required" {
			r.Choice = AnyTool
		}
	case object:
		r.Choice = str(in(choice, "function", "name"))
	}
	return r
}

// readMessages reads the members that chat APIs have in common.
func readMessages(v any) (r Request) {
	r.Temperature = number(at(v, "temperature"))
	r.Stream, _ = at(v, "stream").(bool)
	for _, m := range list(at(v, "messages")) {
		role := str(at(m, "role"))
		switch role {
		case "system", "developer":
			r.addSystem(leaves(at(m, "content")))
			continue
		case "tool":
			r.Turns = append(r.Turns, Turn{Role: User, Kind: Result, ID: str(at(m, "tool_call_id")), Name: str(at(m, "tool_name", "name")), Text: leaves(at(m, "content"))})
			continue
		}
		r.addContent(role, at(m, "content"))
		for _, image := range list(at(m, "images")) {
			r.Turns = append(r.Turns, Turn{Role: role, Kind: Image, Text: str(image)})
		}
		for _, c := range list(at(m, "tool_calls")) {
			r.Turns = append(r.Turns, Turn{Role: role, Kind: Call, ID: str(at(c, "id")), Name: str(in(c, "function", "name")), Text: text(in(c, "function", "arguments"))})
		}
	}
	for _, t := range list(at(v, "tools")) {
		r.addTool(at(t, "function"), "parameters")
	}
	return r
}

// addSystem adds a text of the system.
func (r *Request) addSystem(s string) {
	if r.System != "" && s != "" {
		r.System += "\n\n"
	}
	r.System += s
}

// addContent adds the content of a message in the APIs of OpenAI and Cohere: a string, or parts.
func (r *Request) addContent(role string, content any) {
	if s := str(content); s != "" {
		r.addText(role, s)
	}
	for _, p := range list(content) {
		switch str(at(p, "type")) {
		case "image_url":
			url := str(in(p, "image_url", "url"))
			r.Turns = append(r.Turns, ofDataURL(role, url))
		case "input_image":
			r.Turns = append(r.Turns, ofDataURL(role, str(at(p, "image_url"))))
		default:
			r.addText(role, str(at(p, "text")))
		}
	}
}

// addText adds a text.
func (r *Request) addText(role, s string) {
	if s != "" {
		r.Turns = append(r.Turns, Turn{Role: role, Kind: Text, Text: s})
	}
}

// writeCompletion writes a request of OpenAI's completions API (https://platform.openai.com/docs/api-reference/completions).
func writeCompletion(r Request) object {
	o := object{"model": r.Model, "prompt": r.Turns[0].Text, "max_tokens": r.MaxTokens, "temperature": r.Temperature, "stream": r.Stream}
	return set(o, object{"stop": r.Stop})
}

func readCompletion(v any) (r Request) {
	r.addText(User, leaves(at(v, "prompt")))
	r.MaxTokens, r.Stop = int(number(at(v, "max_tokens"))), stops(at(v, "stop"))
	r.Temperature = number(at(v, "temperature"))
	r.Stream, _ = at(v, "stream").(bool)
	return r
}

// writeResponses writes a request of OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses/create).
func writeResponses(r Request) object {
	var items []any
	for _, turns := range r.groups() {
		var parts []any
		for _, t := range turns {
			switch t.Kind {
			case Call:
				items = append(items, object{"type": "function_call", "call_id": t.ID, "name": t.Name, "arguments": t.Text})
			case Result:
				items = append(items, object{"type": "function_call_output", "call_id": t.ID, "output": t.Text})
			case Image:
				parts = append(parts, object{"type": "input_image", "image_url": dataURL(t)})
			default:
				kind := "input_text"
				if t.Role == Assistant {
					kind = "output_text"
				}
				parts = append(parts, object{"type": kind, "text": t.Text})
			}
		}
		if parts != nil {
			items = append(items, object{"type": "message", "role": turns[0].Role, "content": parts})
		}
	}
	var tools []any
	for _, t := range r.Tools {
		tools = append(tools, set(t.function("parameters"), object{"type": "function"}))
	}
	choice := r.choice("required", object{"type": "function", "name": r.Choice})
	o := object{"model": r.Model, "input": items, "max_output_tokens": r.MaxTokens, "temperature": r.Temperature, "stream": r.Stream, "store": false}
	return set(o, object{"instructions": r.System, "tools": tools, "tool_choice": choice})
}

func readResponses(v any) (r Request) {
	r.System = str(at(v, "instructions"))
	r.MaxTokens, r.Temperature = int(number(at(v, "max_output_tokens"))), number(at(v, "temperature"))
	r.Stream, _ = at(v, "stream").(bool)
	r.addText(User, str(at(v, "input")))
	for _, item := range list(at(v, "input")) {
		role := str(at(item, "role"))
		switch str(at(item, "type")) {
		case "function_call":
			r.Turns = append(r.Turns, Turn{Role: Assistant, Kind: Call, ID: str(at(item, "call_id")), Name: str(at(item, "name")), Text: text(at(item, "arguments"))})
		case "function_call_output":
			r.Turns = append(r.Turns, Turn{Role: User, Kind: Result, ID: str(at(item, "call_id")), Text: leaves(at(item, "output"))})
		default:
			if role == "system" || role == "developer" {
				r.addSystem(leaves(at(item, "content")))
				continue
			}
			r.addContent(role, at(item, "content"))
		}
	}
	for _, t := range list(at(v, "tools")) {
		r.addTool(t, "parameters")
	}
	r.Choice = str(in(v, "tool_choice", "name"))
	if str(at(v, "tool_choice")) == "required" {
		r.Choice = AnyTool
	}
	return r
}
