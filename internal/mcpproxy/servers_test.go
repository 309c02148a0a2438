package mcpproxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve is an MCP server in a process of its own.
func serve(mode string) int {
	switch mode {
	case "sdk":
		return serveSDK()
	case "exit":
		return 7
	case "deaf": // it does not end with its input
		<-time.After(time.Hour)
	case "pid":
		fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/pid","params":{"pid":%d}}`+"\n", os.Getpid())
		<-time.After(time.Hour)
	case "parent":
		other := exec.Command(os.Args[0])
		other.Env = []string{serverVariable + "=deaf"}
		if err := other.Start(); err != nil {
			return 1
		}
		fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/pid","params":{"pid":%d}}`+"\n", other.Process.Pid)
	case "env":
		fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/env","params":{"env":%s}}`+"\n", quoted(strings.Join(os.Environ(), "\n")))
	}
	return mirror(mode)
}

// mirror tells each line that it gets, and answers requests with what the mode says.
func mirror(mode string) int {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return 3
		}
		line = strings.TrimSuffix(line, "\n")
		fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/saw","params":{"line":%s}}`+"\n", quoted(line))
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if mode == "eager" && strings.Contains(line, "notifications/go") {
			fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		for _, answer := range answers(mode, m.Method, string(m.ID)) {
			fmt.Println(answer)
		}
	}
}

func answers(mode, method, id string) []string {
	result := func(text string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + text + `}` }
	content := `{"content":[{"type":"text","text":"RAN"}]}`
	switch {
	case mode == "big" && method == "tools/call":
		return []string{result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 5<<20) + `"}]}`)}
	case mode == "over" && method == "tools/call": // more than the router takes, and less than NATS does
		return []string{result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 600<<10) + `"}]}`)}
	case mode == "large" && method == "tools/call":
		return []string{result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 300<<10) + `"}]}`)}
	case mode == "silent" && (method == "tools/call" || method == "x/slow"):
		return nil
	case mode == "twoids" && method == "tools/call":
		return nil
	case mode == "twoids" && strings.HasPrefix(method, "trick/"): // the response to the call 1, in one for another request
		const secret = `"result":{"content":[{"type":"text","text":"SECRET"}]}`
		return []string{map[string]string{
			"trick/escaped":  `{"jsonrpc":"2.0","id":` + id + `,"\u0069d":1,` + secret + `}`,
			"trick/case":     `{"jsonrpc":"2.0","id":` + id + `,"ID":1,` + secret + `}`,
			"trick/behind":   `{"jsonrpc":"2.0","id":` + id + `,"result":{}} {"jsonrpc":"2.0","id":1,` + secret + `}`,
			"trick/return":   `{"jsonrpc":"2.0","id":` + id + `,"result":[` + "\r" + `{"jsonrpc":"2.0","id":1,` + secret + `}` + "\r" + `]}`,
			"trick/no-utf-8": `{"jsonrpc":"2.0","id":` + id + `,"i` + "\xff" + `d":1,` + secret + `}`,
			"trick/result":   `{"jsonrpc":"2.0","id":` + id + `,"result":{},` + secret + `}`,
		}[method]}
	case mode == "members":
		return []string{`{"jsonrpc":"2.0","id":` + id + `,"note":"SECRET","result":` + content + `}`}
	case mode == "surrogate":
		return []string{result(`{"content":[{"type":"text","text":"SECRET \ud800"}]}`)}
	case mode == "otherid" && method == "tools/call":
		return []string{`{"jsonrpc":"2.0","id":"` + id + `","result":` + content + `}`, "LOG LINE"}
	case mode == "error" && method == "tools/call":
		return []string{`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,"message":"SECRET"}}`}
	case mode == "batch" && method == "tools/call":
		return []string{`[` + result(content) + `]`}
	case mode == "task" && (method == "tools/call" || method == "resources/read"):
		return []string{result(`{"task":{"taskId":"t1","status":"working"}}`)}
	case mode == "task" && method == "tasks/result":
		return []string{result(content)}
	case mode == "exttask" && method == "tools/call":
		return []string{
			result(`{"resultType":"task","taskId":"t1","status":"working"}`),
			`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t1","status":"completed","result":{"content":[{"type":"text","text":"SECRET"}]}}}`,
			`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"other","status":"completed","result":{"content":[{"type":"text","text":"SECRET"}]}}}`,
		}
	case mode == "exttask" && method == "tasks/get":
		return []string{result(`{"resultType":"complete","taskId":"t1","status":"completed","result":` + content + `}`)}
	case mode == "exttask" && method == "tasks/cancel":
		return []string{result(`{"resultType":"complete","taskId":"t1","status":"cancelled","Result":` + content + `}`)}
	}
	return []string{result(content)}
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

type echoInput struct {
	Text string `json:"text"`
}

// sdkServer is a server as authors write it.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says it again"}, func(_ context.Context, _ *mcp.CallToolRequest, in echoInput) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "echo: " + in.Text}}}, nil, nil
	})
	return s
}

func serveSDK() int {
	if err := sdkServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
