package stubmodel

import (
	"strings"
)

// responses is OpenAI's Responses API.
var responses = dialect{
	name:     "responses",
	path:     func(path string) bool { return strings.HasSuffix(path, "/responses") },
	read:     readResponses,
	whole:    func(t turn) object { return response(t, "completed", responseItem(t)) },
	stream:   streamResponse,
	streamed: askedToStream,
}

func askedToStream(_ string, body object) bool { return body["stream"] == true }

func readResponses(body object) (tools []string, results int) {
	for _, item := range objects(body["input"]) {
		if strings.HasSuffix(text(item["type"]), "_call_output") {
			results++
		}
		for _, tool := range objects(item["tools"]) { // of additional_tools
			tools = append(tools, text(tool["name"]))
		}
	}
	for _, tool := range objects(body["tools"]) {
		if name := text(tool["name"]); name != "" {
			tools = append(tools, name)
		}
	}
	return tools, results
}

func responseItem(t turn) object {
	if space, name, ok := strings.Cut(t.tool, "/"); ok {
		return with(responseItem(turn{id: t.id, tool: name, args: t.args}), object{"namespace": space})
	}
	if t.tool != "" && !strings.HasPrefix(t.args, "{") {
		return object{"id": "ctc_" + t.id, "type": "custom_tool_call", "status": "completed", "call_id": "call_" + t.id, "name": t.tool, "input": t.args}
	}
	if t.tool != "" {
		return object{"id": "fc_" + t.id, "type": "function_call", "status": "completed", "call_id": "call_" + t.id, "name": t.tool, "arguments": t.args}
	}
	return object{"id": "msg_" + t.id, "type": "message", "status": "completed", "role": "assistant", "content": []object{responsePart(t.text)}}
}

func responsePart(s string) object {
	return object{"type": "output_text", "text": s, "annotations": []any{}, "logprobs": []any{}}
}

func response(t turn, status string, items ...object) object {
	return object{
		"id": "resp_" + t.id, "object": "response", "created_at": 1, "status": status, "model": t.model, "output": append([]object{}, items...),
		"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": object{}, "parallel_tool_calls": false, "tool_choice": "auto",
		"tools": []any{}, "temperature": 1, "top_p": 1,
		"usage": object{
			"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 15,
		},
	}
}

func streamResponse(s *events, t turn) {
	item := responseItem(t)
	send := func(name string, data object) {
		s.send(name, with(data, object{"type": name, "sequence_number": s.sent}))
	}
	at := func(o object) object { return with(o, object{"item_id": item["id"], "output_index": 0}) }
	send("response.created", object{"response": response(t, "in_progress")})
	if t.tool != "" {
		send("response.output_item.added", object{"output_index": 0, "item": with(item, object{"arguments": "", "status": "in_progress"})})
		send("response.function_call_arguments.delta", at(object{"delta": t.args}))
		send("response.function_call_arguments.done", at(object{"arguments": t.args, "name": t.tool}))
	} else {
		send("response.output_item.added", object{"output_index": 0, "item": with(item, object{"content": []any{}, "status": "in_progress"})})
		send("response.content_part.added", at(object{"content_index": 0, "part": responsePart("")}))
		send("response.output_text.delta", at(object{"content_index": 0, "delta": t.text, "logprobs": []any{}}))
		send("response.output_text.done", at(object{"content_index": 0, "text": t.text, "logprobs": []any{}}))
		send("response.content_part.done", at(object{"content_index": 0, "part": responsePart(t.text)}))
	}
	send("response.output_item.done", object{"output_index": 0, "item": item})
	send("response.completed", object{"response": response(t, "completed", item)})
}
