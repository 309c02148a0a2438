package docs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natstest"
	"github.com/hookrouter/hookrouter/internal/router"
)

func TestProbe(t *testing.T) {
	s := natstest.Server(t)
	natstest.Router(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ask := func(subject, body string, h nats.Header) {
		m, err := nc.RequestMsg(&nats.Msg{Subject: subject, Data: []byte(body), Header: h}, 5*time.Second)
		if err != nil {
			fmt.Println(subject, err)
			return
		}
		fmt.Printf("== %s %s\n%v\n%s\n", subject, body, m.Header, m.Data)
	}
	sub, _ := nc.SubscribeSync("hooks.result.>")
	ask("hooks.register.path-guard", `{"events":["tool:pre"],"on_failure":"deny","match":"data.tool_name=='Write'"}`, nil)
	ask("hooks.register.c", `{"channels":["a.b"],"instance":"i"}`, nil)
	ask("hooks.register.obs", `{"events":["*"],"mode":"observe"}`, nil)
	ask("hooks.register.flaky", `{"events":["*"],"durable":true}`, nil)
	ask("hooks.registry", ``, nil)
	ask("hooks.explain.tool.pre", `{}`, nil)
	ask("hooks.explain.tool.pre", ``, nil)
	ask("hooks.handlers", ``, nil)
	ask("hooks.handlers.*", ``, nil)
	ask("hooks.emit.tool.pre", `{"session_id":"s1","tool_name":"Read"}`, nil)
	ask("hooks.emit.tool.pre", `{"session_id":"s1","tool_name":"Write"}`, nil)
	ask("hooks.collect.tool.pre", `{"session_id":"s1","tool_name":"Write"}`, nil)
	ask("hooks.contributions.a.b", ``, nil)
	ask("hooks.unregister.c", `{}`, nil)
	ask("hooks.execute.tool.pre", `{}`, nil)
	ask("$SRV.INFO.hook-router", ``, nil)
	ask("$SRV.STATS.hook-router", ``, nil)
	ask("$SRV.PING.hook-router", ``, nil)
	for {
		ctx, c := context.WithTimeout(context.Background(), 200*time.Millisecond)
		m, err := sub.NextMsgWithContext(ctx)
		c()
		if err != nil {
			break
		}
		if m.Subject[:7] == "hooks.e" || m.Subject[:7] == "hooks.c" || m.Subject[:9] == "hooks.res" || m.Subject[:9] == "hooks.rou" {
			fmt.Printf("-- %s reply=%q %v\n   %s\n", m.Subject, m.Reply, m.Header, m.Data)
		}
	}
}
