package ask

// writeGemini writes a request of Google's API (https://ai.google.dev/api/generate-content). Its calls have no IDs that a
// client could choose: results belong to calls by the name of the function.
func writeGemini(r Request) object {
	names := map[string]string{}
	var contents []any
	for _, turns := range r.groups() {
		var parts []any
		for _, t := range turns {
			switch t.Kind {
			case Text:
				parts = append(parts, object{"text": t.Text})
			case Image:
				parts = append(parts, object{"inlineData": object{"mimeType": t.Name, "data": t.Text}})
			case Call:
				names[t.ID] = t.Name
				parts = append(parts, object{"functionCall": object{"name": t.Name, "args": raw(t.Text)}})
			case Result:
				parts = append(parts, object{"functionResponse": object{"name": names[t.ID], "response": object{"result": t.Text}}})
			}
		}
		role := User
		if turns[0].Role == Assistant {
			role = "model"
		}
		contents = append(contents, object{"role": role, "parts": parts})
	}
	o := object{"contents": contents, "generationConfig": set(object{"maxOutputTokens": r.MaxTokens, "temperature": r.Temperature}, object{"stopSequences": r.Stop})}
	if r.System != "" {
		o["systemInstruction"] = object{"parts": []any{object{"text": r.System}}}
	}
	var functions []any
	for _, t := range r.Tools {
		functions = append(functions, t.function("parametersJsonSchema"))
	}
	if functions != nil {
		o["tools"] = []any{object{"functionDeclarations": functions}}
	}
	if r.Choice != "" {
		calling := object{"mode": "ANY"}
		if r.Choice != AnyTool {
			calling["allowedFunctionNames"] = []string{r.Choice}
		}
		o["toolConfig"] = object{"functionCallingConfig": calling}
	}
	return o
}

// readGemini reads names in both spellings that Google accepts (https://protobuf.dev/programming-guides/json/).
func readGemini(v any) (r Request) {
	config := at(v, "generationConfig", "generation_config")
	r.System = leaves(at(at(v, "systemInstruction", "system_instruction"), "parts"))
	r.MaxTokens, r.Temperature = int(number(at(config, "maxOutputTokens", "max_output_tokens"))), number(at(config, "temperature"))
	r.Stop = stops(at(config, "stopSequences", "stop_sequences"))
	for _, c := range list(at(v, "contents")) {
		role := User
		if str(at(c, "role")) == "model" {
			role = Assistant
		}
		for _, p := range list(at(c, "parts")) {
			r.addText(role, str(at(p, "text")))
			if image := at(p, "inlineData", "inline_data"); image != nil {
				r.Turns = append(r.Turns, Turn{Role: role, Kind: Image, Name: str(at(image, "mimeType", "mime_type")), Text: str(at(image, "data"))})
			}
			if call := at(p, "functionCall", "function_call"); call != nil {
				r.Turns = append(r.Turns, Turn{Role: role, Kind: Call, ID: str(at(call, "id")), Name: str(at(call, "name")), Text: text(at(call, "args"))})
			}
			if result := at(p, "functionResponse", "function_response"); result != nil {
				r.Turns = append(r.Turns, Turn{Role: role, Kind: Result, ID: str(at(result, "id")), Name: str(at(result, "name")), Text: leaves(at(result, "response"))})
			}
		}
	}
	for _, t := range list(at(v, "tools")) {
		for _, f := range list(at(t, "functionDeclarations", "function_declarations")) {
			r.addTool(f, "parametersJsonSchema", "parameters_json_schema", "parameters")
		}
	}
	calling := at(at(v, "toolConfig", "tool_config"), "functionCallingConfig", "function_calling_config")
	if str(at(calling, "mode")) == "ANY" {
		r.Choice = AnyTool
		if names := list(at(calling, "allowedFunctionNames", "allowed_function_names")); len(names) == 1 {
			r.Choice = str(names[0])
		}
	}
	return r
}

// writeCohere writes a request of Cohere's chat API, version 2 (https://docs.cohere.com/reference/chat).
func writeCohere(r Request) object {
	o := chatMessages(r)
	o = set(o, object{"tools": chatTools(r.Tools), "stop_sequences": r.Stop})
	if r.Choice != "" {
		o["tool_choice"] = "REQUIRED"
	}
	return o
}

func readCohere(v any) Request {
	r := readMessages(v)
	r.MaxTokens, r.Stop = int(number(at(v, "max_tokens"))), stops(at(v, "stop_sequences"))
	if str(at(v, "tool_choice")) == "REQUIRED" {
		r.Choice = AnyTool
	}
	return r
}

// writeOllama writes a request of Ollama's chat API (https://github.com/ollama/ollama/blob/main/docs/api.md). Its calls
// have no IDs: results belong to calls by the name of the function.
func writeOllama(r Request) object {
	var messages []any
	if r.System != "" {
		messages = append(messages, object{"role": "system", "content": r.System})
	}
	names := map[string]string{}
	for _, turns := range r.groups() {
		m := object{"role": turns[0].Role, "content": ""}
		var images []string
		var calls []any
		for _, t := range turns {
			switch t.Kind {
			case Text:
				m["content"] = t.Text
			case Image:
				images = append(images, t.Text)
			case Call:
				names[t.ID] = t.Name
				calls = append(calls, object{"function": object{"name": t.Name, "arguments": raw(t.Text)}})
			case Result:
				messages = append(messages, object{"role": "tool", "tool_name": names[t.ID], "content": t.Text})
			}
		}
		if m["content"] != "" || images != nil || calls != nil {
			messages = append(messages, set(m, object{"images": images, "tool_calls": calls}))
		}
	}
	o := object{"model": r.Model, "messages": messages, "stream": r.Stream,
		"options": set(object{"num_predict": r.MaxTokens, "temperature": r.Temperature}, object{"stop": r.Stop})}
	return set(o, object{"tools": chatTools(r.Tools)})
}

func readOllama(v any) Request {
	r := readMessages(v)
	r.Stream = at(v, "stream") != false // a stream is the default
	options := at(v, "options")
	r.MaxTokens, r.Temperature, r.Stop = int(number(at(options, "num_predict"))), number(at(options, "temperature")), stops(at(options, "stop"))
	return r
}
