package stubmodel

import (
	"fmt"
	"strings"
)

// chat is OpenAI's Chat Completions API.
var chat = dialect{
	name:     "chat",
	path:     func(path string) bool { return strings.HasSuffix(path, "/chat/completions") },
	read:     readChat,
	whole:    wholeChat,
	stream:   streamChat,
	streamed: askedToStream,
}

func readChat(body object) (tools []string, results int) {
	for _, message := range objects(body["messages"]) {
		if message["role"] == "tool" {
			results++
		}
	}
	for _, tool := range objects(body["tools"]) {
		function, _ := tool["function"].(object)
		tools = append(tools, text(function["name"]))
	}
	return tools, results
}

var chatUsage = object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}

func chatMessage(t turn) (message object, finish string) {
	if t.tool == "" {
		return object{"role": "assistant", "content": t.text}, "stop"
	}
	function := object{"name": t.tool, "arguments": t.args}
	return object{
		"role": "assistant", "content": nil,
		"tool_calls": []object{{"index": 0, "id": "call_" + t.id, "type": "function", "function": function}},
	}, "tool_calls"
}

func chatHead(t turn, kind string) object {
	return object{"id": "chatcmpl-" + t.id, "object": kind, "created": 1, "model": t.model}
}

func wholeChat(t turn) object {
	message, finish := chatMessage(t)
	choice := object{"index": 0, "message": message, "finish_reason": finish}
	return with(chatHead(t, "chat.completion"), object{"usage": chatUsage, "choices": []object{choice}})
}

func streamChat(s *events, t turn) {
	message, finish := chatMessage(t)
	head := chatHead(t, "chat.completion.chunk")
	s.send("", with(head, object{"choices": []object{{"index": 0, "delta": message, "finish_reason": nil}}}))
	s.send("", with(head, object{"choices": []object{{"index": 0, "delta": object{}, "finish_reason": finish}}}))
	s.send("", with(head, object{"choices": []object{}, "usage": chatUsage}))
	fmt.Fprint(s.w, "data: [DONE]\n\n")
}
