package stubmodel

import (
	"encoding/json"
	"strings"
)

// generate is Gemini's generateContent API.
var generate = dialect{
	name: "generate",
	path: func(path string) bool {
		return strings.HasSuffix(path, ":generateContent") || strings.HasSuffix(path, ":streamGenerateContent")
	},
	read:     readGenerate,
	whole:    wholeContent,
	stream:   func(s *events, t turn) { s.send("", wholeContent(t)) },
	streamed: func(path string, _ object) bool { return strings.HasSuffix(path, ":streamGenerateContent") },
}

func readGenerate(body object) (tools []string, results int) {
	for _, content := range objects(body["contents"]) {
		for _, part := range objects(content["parts"]) {
			if part["functionResponse"] != nil {
				results++
			}
		}
	}
	for _, tool := range objects(body["tools"]) {
		for _, f := range objects(tool["functionDeclarations"]) {
			tools = append(tools, text(f["name"]))
		}
	}
	return tools, results
}

func wholeContent(t turn) object {
	part := object{"text": t.text}
	if t.tool != "" {
		part = object{"functionCall": object{"id": "call_" + t.id, "name": t.tool, "args": json.RawMessage(t.args)}}
	}
	content := object{"role": "model", "parts": []object{part}}
	return object{
		"candidates":    []object{{"content": content, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
		"modelVersion":  "stub", "responseId": t.id,
	}
}
