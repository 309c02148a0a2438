package stubmodel

import (
	"encoding/json"
	"strings"
)

// messages is Anthropic's Messages API.
var messages = dialect{
	name:     "messages",
	path:     func(path string) bool { return strings.HasSuffix(path, "/messages") },
	read:     readMessages,
	whole:    wholeMessage,
	stream:   streamMessage,
	streamed: askedToStream,
}

func readMessages(body object) (tools []string, results int) {
	for _, message := range objects(body["messages"]) {
		for _, block := range objects(message["content"]) {
			if block["type"] == "tool_result" {
				results++
			}
		}
	}
	for _, tool := range objects(body["tools"]) {
		tools = append(tools, text(tool["name"]))
	}
	return tools, results
}

var messageUsage = object{"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}

func messageBlock(t turn) (block object, stop string) {
	if t.tool == "" {
		return object{"type": "text", "text": t.text}, "end_turn"
	}
	return object{"type": "tool_use", "id": "toolu_" + t.id, "name": t.tool, "input": json.RawMessage(t.args)}, "tool_use"
}

func wholeMessage(t turn) object {
	block, stop := messageBlock(t)
	return object{
		"id": "msg_" + t.id, "type": "message", "role": "assistant", "model": t.model, "content": []object{block},
		"stop_reason": stop, "stop_sequence": nil, "usage": messageUsage,
	}
}

func streamMessage(s *events, t turn) {
	block, stop := messageBlock(t)
	send := func(name string, data object) { s.send(name, with(data, object{"type": name})) }
	send("message_start", object{"message": with(wholeMessage(t), object{"content": []any{}, "stop_reason": nil})})
	delta := object{"type": "text_delta", "text": t.text}
	start := with(block, object{"text": ""})
	if t.tool != "" {
		delta = object{"type": "input_json_delta", "partial_json": t.args}
		start = with(block, object{"input": object{}})
	}
	send("content_block_start", object{"index": 0, "content_block": start})
	send("content_block_delta", object{"index": 0, "delta": delta})
	send("content_block_stop", object{"index": 0})
	send("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": messageUsage})
	send("message_stop", object{})
}
