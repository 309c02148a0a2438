package main

import "strings"

// ntfyServer is where messages in JSON go: the address without the topic.
func ntfyServer(topic string) string { return topic[:strings.LastIndexByte(topic, '/')+1] }

// ntfyMessage has a button for each option, at most three, as ntfy takes them. A button opens
// the page that shows what is asked; nothing is answered before.
func ntfyMessage(topic string, m message) map[string]any {
	var actions []map[string]string
	for _, l := range m.Approval.Links[:min(len(m.Approval.Links), 3)] {
		actions = append(actions, map[string]string{"action": "view", "label": l.Option, "url": l.URL})
	}
	return map[string]any{
		"topic": topic[strings.LastIndexByte(topic, '/')+1:], "title": m.who() + " waits for you (" + m.Approval.Hook + ")",
		"message": m.Approval.Prompt, "priority": 4, "tags": []string{"raised_hand"}, "actions": actions,
	}
}
