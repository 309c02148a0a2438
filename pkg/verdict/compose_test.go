package verdict_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

func TestComposeDecides(t *testing.T) {
	type decision struct {
		Action verdict.Action
		Reason string
		Data   string
	}
	for sentence, c := range map[string]struct {
		hooks []hook
		want  decision
	}{
		"no hook at all":                    {nil, decision{"continue", "", `{"n":1}`}},
		"a modification":                    {[]hook{{reply: `{"action":"modify","data":{"n" : 2}}`}}, decision{"continue", "", `{"n" : 2}`}},
		"the reason of a modification":      {[]hook{{reply: `{"action":"modify","data":{},"reason":"r"}`}}, decision{"continue", "", `{}`}},
		"an injection":                      {[]hook{{reply: inject("x", "")}}, decision{"continue", "", `{"n":1}`}},
		"an injection with data of its own": {[]hook{{reply: inject("x", `,"data":{"own":1}`)}}, decision{"continue", "", `{"own":1}`}},
		"injections with data of their own": {
			[]hook{{reply: inject("x", `,"data":{"own":1}`)}, {reply: inject("y", "")}}, decision{"continue", "", `{"n":1}`},
		},
		"an injection after a modification": {
			[]hook{{reply: `{"action":"modify","data":{"n":2}}`}, {reply: inject("x", "")}}, decision{"continue", "", `{"n":2}`},
		},
		"a denial":                             {[]hook{{reply: `{"action":"deny","reason":"no"}`}}, decision{"deny", "no", ""}},
		"a denial with data":                   {[]hook{{reply: `{"action":"deny","data":{"why":1}}`}}, decision{"deny", "", `{"why":1}`}},
		"a denial after a change":              {[]hook{{reply: `{"action":"modify","data":{"n":2}}`}, {reply: `{"action":"deny"}`}}, decision{"deny", "", ""}},
		"a denial after an approval request":   {[]hook{{reply: `{"action":"ask_user"}`}, {reply: `{"action":"deny","reason":"no"}`}}, decision{"deny", "no", ""}},
		"a failure that denies":                {[]hook{{name: "guard", err: errors.New("x"), closed: true}}, decision{"deny", `hook "guard" failed (error) and its on_failure is deny`, ""}},
		"a failure that is let pass":           {[]hook{{err: errors.New("x")}}, decision{"continue", "", `{"n":1}`}},
		"an approval request":                  {[]hook{{reply: `{"action":"ask_user","reason":"r"}`}}, decision{"pending", "", `{"n":1}`}},
		"an approval request with data":        {[]hook{{reply: `{"action":"ask_user","data":{"own":1}}`}}, decision{"pending", "", `{"own":1}`}},
		"an approval request and an injection": {[]hook{{reply: inject("x", "")}, {reply: `{"action":"ask_user"}`}}, decision{"pending", "", `{"n":1}`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := verdict.Compose(run(t, c.hooks...), event, verdict.Limits{}, 7, noon)
			if diff := cmp.Diff(c.want, decision{v.Action, v.Reason, string(v.Data)}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if v.Action != verdict.Continue && (v.Messages != nil || v.ContextInjections != nil || v.InjectedTokens != 7) {
				t.Errorf("it injects %v and the turn has used %d tokens, not 7", v.Messages, v.InjectedTokens)
			}
			if v.Approval != nil {
				t.Errorf("it has an approval: %+v", v.Approval)
			}
		})
	}
}

func TestComposeKeepsAnEmptyReason(t *testing.T) {
	for reply, want := range map[string]bool{
		`{"action":"deny","reason":""}`: true, `{"action":"deny","reason":null}`: false, `{"action":"deny"}`: false,
		`{"action":"continue","reason":""}`: false, `{"action":"ask_user","reason":""}`: false,
	} {
		if v := verdict.Compose(run(t, hook{reply: reply}), event, verdict.Limits{}, 0, noon); v.BlankReason != want || v.Reason != "" {
			t.Errorf("%s: BlankReason is %v, want %v; the reason is %q", reply, v.BlankReason, want, v.Reason)
		}
	}
}

func TestComposeShowsWhatHooksSay(t *testing.T) {
	out := run(t,
		hook{name: "one", reply: `{"user_message":"first","user_message_level":"warning","suppress_output":true}`},
		hook{name: "broken", reply: `{"action":"zap","user_message":"ghost","suppress_output":true}`},
		hook{name: "quiet", reply: `{"user_message":""}`},
		hook{reply: inject("x", `,"user_message":"second","suppress_output":true`)},
		hook{name: "asker", reply: `{"action":"ask_user","user_message":"third","user_message_level":"error"}`},
		hook{name: "guard", reply: `{"action":"deny","user_message":"fourth"}`},
		hook{name: "late", reply: `{"user_message":"never"}`},
	)
	v := verdict.Compose(out, event, verdict.Limits{}, 0, noon)
	want := verdict.Verdict{
		Action: verdict.Deny,
		Display: []verdict.Display{
			{Message: "first", Level: chain.LevelWarning, Source: "hook:one", HookID: "a"},
			{Message: "second", Level: chain.LevelInfo, Source: "hook:d", HookID: "d"},
			{Message: "third", Level: chain.LevelError, Source: "hook:asker", HookID: "e"},
			{Message: "fourth", Level: chain.LevelInfo, Source: "hook:guard", HookID: "f"},
		},
		SuppressOutput: []string{"one", "d"},
		Warnings:       []verdict.Warning{{Kind: verdict.Overridden, Hook: "d", Detail: "the injection was dropped: the event was denied"}},
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A denial or an approval request overrides injections, and the agent is warned of each.
func TestComposeWarnsOfOverriddenInjections(t *testing.T) {
	for last, why := range map[string]string{
		`{"action":"deny"}`: "the event was denied", `{"action":"ask_user"}`: "a person is asked about the event",
	} {
		v := verdict.Compose(run(t, hook{name: "tips", reply: inject("x", "")}, hook{reply: inject("", "")}, hook{reply: last}), event, verdict.Limits{}, 0, noon)
		want := []verdict.Warning{{Kind: "overridden", Hook: "tips", Detail: "the injection was dropped: " + why}}
		if diff := cmp.Diff(want, v.Warnings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", last, diff)
		}
	}
}

func TestComposeMakesOneMessage(t *testing.T) {
	single := verdict.Metadata{Source: "hook", HookName: "lint", HookID: "a", Event: "tool:post", Timestamp: noonUTC}
	several := verdict.Metadata{Source: "hook", HookName: "composite", Event: "tool:post", Timestamp: noonUTC}
	const ephemeral, appended, user = `,"ephemeral":true`, `,"append_to_last_tool_result":true`, `,"context_injection_role":"user"`
	const both = "Hook feedback:\n\nFrom lint (1 bytes):\nA\n\nFrom b (2 bytes):\né"
	for sentence, c := range map[string]struct {
		hooks []hook
		want  verdict.Message
	}{
		"one is the text alone": {
			[]hook{{name: "lint", reply: inject("A", "")}},
			verdict.Message{Role: "system", Content: "A", Metadata: single},
		},
		"one with its settings": {
			[]hook{{name: "lint", reply: inject("A", user+ephemeral+appended)}},
			verdict.Message{Role: "user", Content: "A", Ephemeral: true, AppendToLastToolResult: true, Metadata: single},
		},
		"append without ephemeral does not count": {
			[]hook{{name: "lint", reply: inject("A", appended)}},
			verdict.Message{Role: "system", Content: "A", Metadata: single},
		},
		"two are named, with their bytes": {
			[]hook{{name: "lint", reply: inject("A", "")}, {reply: inject("é", user+ephemeral)}},
			verdict.Message{Role: "system", Content: both, Metadata: several},
		},
		"two have the settings of the first": {
			[]hook{{name: "lint", reply: inject("A", user+ephemeral)}, {reply: inject("é", "")}},
			verdict.Message{Role: "user", Content: both, Ephemeral: true, Metadata: several},
		},
		"append counts from any": {
			[]hook{{name: "lint", reply: inject("A", ephemeral)}, {reply: inject("é", ephemeral+appended)}},
			verdict.Message{Role: "system", Content: both, Ephemeral: true, AppendToLastToolResult: true, Metadata: several},
		},
		"append counts from none where the first is persistent": {
			[]hook{{name: "lint", reply: inject("A", "")}, {reply: inject("é", ephemeral+appended)}},
			verdict.Message{Role: "system", Content: both, Metadata: several},
		},
		"what was dropped has no settings": {
			[]hook{{name: "lint", reply: inject("A", user)}, {reply: inject(strings.Repeat("x", 101), ephemeral+appended)}},
			verdict.Message{Role: "user", Content: "A", Metadata: single},
		},
		"a hook that failed, one without text and one of another action do not count": {
			[]hook{
				{name: "lint", reply: inject("A", "")},
				{reply: `[0]`},
				{reply: inject("", ephemeral)},
				{reply: `{"action":"continue","context_injection":"ghost"}`},
				{reply: inject("\u200b", "")},
			},
			verdict.Message{Role: "system", Content: "A", Metadata: single},
		},
		"a name does not deceive within the text": {
			[]hook{{name: "a\u202eb", reply: inject("x", "")}, {reply: inject("y", "")}},
			verdict.Message{Role: "system", Content: "Hook feedback:\n\nFrom ab (1 bytes):\nx\n\nFrom b (1 bytes):\ny", Metadata: several},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			out := run(t, c.hooks...)
			if !verdict.Injects(out) {
				t.Error("Injects = false")
			}
			v := verdict.Compose(out, event, verdict.Limits{Size: 100}, 0, noon)
			if diff := cmp.Diff([]verdict.Message{c.want}, v.Messages); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestComposeListsInjections(t *testing.T) {
	v := verdict.Compose(run(t,
		hook{name: "lint", reply: inject("12345678", `,"context_injection_role":"user"`)},
		hook{name: "long", reply: inject(strings.Repeat("x", 40), "")},
		hook{name: "todo", reply: inject("\x1b[31mto do\x1b[0m", `,"ephemeral":true,"append_to_last_tool_result":true`)},
		hook{name: "large", reply: inject(strings.Repeat("x", 99), "")},
	), event, verdict.Limits{Size: 50, Budget: 5}, 0, noon)
	want := []chain.ContextInjection{
		{Content: "12345678", Role: chain.RoleUser, HookName: "lint", HookID: "a", Event: "tool:post"},
		{Content: "to do", Role: chain.RoleSystem, Ephemeral: true, AppendToLastToolResult: true, HookName: "todo", HookID: "c", Event: "tool:post"},
	}
	if diff := cmp.Diff(want, v.ContextInjections); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const merged = "Hook feedback:\n\nFrom lint (8 bytes):\n12345678\n\nFrom todo (5 bytes):\nto do"
	if len(v.Messages) != 1 || v.Messages[0].Content != merged {
		t.Errorf("the merged message has other texts: %+v", v.Messages)
	}
	of := func(name, id string) verdict.Metadata {
		return verdict.Metadata{Source: "hook", HookName: name, HookID: id, Event: "tool:post", Timestamp: noonUTC}
	}
	messages := []verdict.Message{
		{Role: chain.RoleUser, Content: "12345678", Metadata: of("lint", "a")},
		{Role: chain.RoleSystem, Content: "to do", Ephemeral: true, AppendToLastToolResult: true, Metadata: of("todo", "c")},
	}
	if diff := cmp.Diff(messages, v.ContextMessages()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	v.ContextInjections = nil // as of an older router
	if diff := cmp.Diff(v.Messages, v.ContextMessages()); diff != "" {
		t.Errorf("messages of an older router (-want +got):\n%s", diff)
	}
}

// The hook's own name for where a message is from stands beside the hook's name.
func TestComposeNamesTheSourceOfMessages(t *testing.T) {
	v := verdict.Compose(run(t, hook{name: "lint", reply: `{"user_message":"m","user_message_source":"python-check"}`}), event, verdict.Limits{}, 0, noon)
	want := []verdict.Display{{Message: "m", Level: chain.LevelInfo, Source: "hook:lint", HookID: "a", UserMessageSource: "python-check"}}
	if diff := cmp.Diff(want, v.Display); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if from := v.Display[0].From(); from != "hook:lint (python-check)" {
		t.Errorf("it is from %q", from)
	}
}

func TestComposeKeepsToTheLimits(t *testing.T) {
	x := func(n int) string { return inject(strings.Repeat("x", n), "") }
	type effect struct {
		Injected []int    // the bytes of each that remains
		Warnings []string // kind and hook
		Tokens   int
	}
	for sentence, c := range map[string]struct {
		limits  verdict.Limits
		used    int
		replies []string
		want    effect
	}{
		"exactly the size":                     {verdict.Limits{Size: 10}, 0, []string{x(10)}, effect{[]int{10}, nil, 2}},
		"one byte over the size":               {verdict.Limits{Size: 10}, 0, []string{x(11)}, effect{nil, []string{"oversize a"}, 0}},
		"the size is of bytes":                 {verdict.Limits{Size: 10}, 0, []string{inject("éééééé", "")}, effect{nil, []string{"oversize a"}, 0}},
		"the size is of each":                  {verdict.Limits{Size: 10}, 0, []string{x(9), x(9)}, effect{[]int{9, 9}, nil, 4}},
		"exactly the budget":                   {verdict.Limits{Budget: 10}, 8, []string{x(11)}, effect{[]int{11}, nil, 10}},
		"one token over the budget":            {verdict.Limits{Budget: 10}, 8, []string{x(12)}, effect{nil, []string{"budget a"}, 8}},
		"tokens are of code points":            {verdict.Limits{Budget: 1}, 0, []string{inject("ééééééé", "")}, effect{[]int{14}, nil, 1}},
		"a smaller one after it fits":          {verdict.Limits{Budget: 10}, 0, []string{x(20), x(24), x(20)}, effect{[]int{20, 20}, []string{"budget b"}, 10}},
		"three characters cost nothing":        {verdict.Limits{Budget: 10}, 10, []string{x(3)}, effect{[]int{3}, nil, 10}},
		"a turn that used more than is left":   {verdict.Limits{Budget: 10}, 12, []string{x(4)}, effect{nil, []string{"budget a"}, 12}},
		"warnings in execution order":          {verdict.Limits{Size: 20, Budget: 5}, 0, []string{x(20), x(4), x(21), x(8)}, effect{[]int{20}, []string{"budget b", "oversize c", "budget d"}, 5}},
		"an ephemeral one counts":              {verdict.Limits{}, 0, []string{inject("xxxx", `,"ephemeral":true`)}, effect{[]int{4}, nil, 1}},
		"the default size":                     {verdict.Limits{}, 0, []string{x(10240), x(10241)}, effect{[]int{10240}, []string{"oversize b"}, 2560}},
		"the default budget":                   {verdict.Limits{}, 9999, []string{x(8), x(7)}, effect{[]int{7}, []string{"budget a"}, 10000}},
		"it is measured when it is clean":      {verdict.Limits{Size: 4}, 0, []string{inject("\x1b[31mred!\x1b[0m", "")}, effect{[]int{4}, []string{"sanitized a"}, 1}},
		"cleaned and yet too large":            {verdict.Limits{Size: 4}, 0, []string{inject("\u202eredder", "")}, effect{nil, []string{"sanitized a", "oversize a"}, 0}},
		"nothing is left of it":                {verdict.Limits{}, 0, []string{inject("\x1b[2J", ""), x(4)}, effect{[]int{4}, []string{"sanitized a"}, 1}},
		"sanitized stands in execution order":  {verdict.Limits{Size: 4}, 0, []string{x(5), inject("a\x00", ""), x(6)}, effect{[]int{1}, []string{"oversize a", "sanitized b", "oversize c"}, 0}},
		"all are dropped: there is no message": {verdict.Limits{Size: 4}, 3, []string{x(5), x(6)}, effect{nil, []string{"oversize a", "oversize b"}, 3}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var hooks []hook
			for _, reply := range c.replies {
				hooks = append(hooks, hook{reply: reply})
			}
			v := verdict.Compose(run(t, hooks...), event, c.limits, c.used, noon)
			got := effect{Tokens: v.InjectedTokens}
			for _, one := range v.Injected {
				got.Injected = append(got.Injected, one.Bytes)
			}
			for _, w := range v.Warnings {
				got.Warnings = append(got.Warnings, w.Kind+" "+w.Hook)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if v.Action != verdict.Continue || string(v.Data) != `{"n":1}` {
				t.Errorf("action %q, data %s", v.Action, v.Data)
			}
			if len(v.ContextInjections) != len(v.Injected) {
				t.Errorf("the list is %+v of the injections %+v", v.ContextInjections, v.Injected)
			}
			if (len(v.Messages) > 0) != (len(v.Injected) > 0) {
				t.Errorf("messages %+v of the injections %+v", v.Messages, v.Injected)
			}
		})
	}
}

func TestComposeSaysWhatWasDelivered(t *testing.T) {
	out := run(t, hook{name: "lint", reply: inject("\x00ééééx", "")}, hook{reply: inject(strings.Repeat("x", 13), "")}, hook{reply: inject("y", "")})
	v := verdict.Compose(out, event, verdict.Limits{Size: 12}, 3, noon)
	want := []verdict.Injected{{HookID: "a", Hook: "lint", Bytes: 9, Tokens: 1, Cleaned: 1}, {HookID: "c", Hook: "c", Bytes: 1}}
	if diff := cmp.Diff(want, v.Injected); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWarningsNameBothFigures(t *testing.T) {
	out := run(t, hook{reply: inject("123456", "")}, hook{reply: inject("12345678", "")}, hook{reply: inject("\x00a\x1b[m", "")}, hook{reply: inject("1234567890", "")})
	v := verdict.Compose(out, event, verdict.Limits{Size: 8, Budget: 5}, 4, noon)
	want := []verdict.Warning{
		{Kind: verdict.Budget, Hook: "b", Detail: "the injection costs 2 tokens: 0 of 5 are left in this turn"},
		{Kind: verdict.Sanitized, Hook: "c", Detail: "4 control or invisible characters were removed"},
		{Kind: verdict.Oversize, Hook: "d", Detail: "the injection has 10 bytes: at most 8 are allowed"},
	}
	if diff := cmp.Diff(want, v.Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	v = verdict.Compose(run(t, hook{reply: inject("1234", "")}), event, verdict.Limits{Budget: 5}, 7, noon)
	if want := "the injection costs 1 tokens: 0 of 5 are left in this turn"; len(v.Warnings) != 1 || v.Warnings[0].Detail != want {
		t.Errorf("warnings %+v, want one that says %q", v.Warnings, want)
	}
}

func TestInjects(t *testing.T) {
	for sentence, c := range map[string]struct {
		hooks []hook
		want  bool
	}{
		"no hook":                                 {nil, false},
		"an injection":                            {[]hook{{reply: inject("x", "")}}, true},
		"an injection without text":               {[]hook{{reply: `{"action":"inject_context"}`}}, false},
		"text of another action":                  {[]hook{{reply: `{"context_injection":"x"}`}}, false},
		"an injection before a denial":            {[]hook{{reply: inject("x", "")}, {reply: `{"action":"deny"}`}}, false},
		"an injection before an approval request": {[]hook{{reply: inject("x", "")}, {reply: `{"action":"ask_user"}`}}, false},
		"an injection before a change":            {[]hook{{reply: inject("x", "")}, {reply: `{"action":"modify","data":{}}`}}, true},
		"an injection among failed hooks":         {[]hook{{reply: `[]`}, {reply: inject("x", "")}}, true},
	} {
		if got := verdict.Injects(run(t, c.hooks...)); got != c.want {
			t.Errorf("%s: %v, want %v", sentence, got, c.want)
		}
	}
}

func TestLimitsLowered(t *testing.T) {
	for sentence, c := range map[string]struct{ limits, by, want verdict.Limits }{
		"nothing given":         {verdict.Limits{Size: 100, Budget: 200}, verdict.Limits{}, verdict.Limits{Size: 100, Budget: 200}},
		"both lower":            {verdict.Limits{Size: 100, Budget: 200}, verdict.Limits{Size: 1, Budget: 2}, verdict.Limits{Size: 1, Budget: 2}},
		"one is higher":         {verdict.Limits{Size: 100, Budget: 200}, verdict.Limits{Size: 101, Budget: 2}, verdict.Limits{Size: 100, Budget: 2}},
		"the other is negative": {verdict.Limits{Size: 100, Budget: 200}, verdict.Limits{Size: -1, Budget: 2}, verdict.Limits{Size: 100, Budget: 2}},
		"one is negative":       {verdict.Limits{Size: 100, Budget: 200}, verdict.Limits{Size: 1, Budget: -1}, verdict.Limits{Size: 1, Budget: 200}},
		"the defaults":          {verdict.Limits{}, verdict.Limits{}, verdict.DefaultLimits},
		"below the defaults":    {verdict.Limits{}, verdict.Limits{Size: 10}, verdict.Limits{Size: 10, Budget: 10000}},
		"beyond the defaults":   {verdict.Limits{}, verdict.Limits{Size: 1 << 40, Budget: 1 << 40}, verdict.Limits{Size: 10240, Budget: 10000}},
		"raised by the router":  {verdict.Limits{Size: 1 << 20}, verdict.Limits{Size: 1 << 19}, verdict.Limits{Size: 1 << 19, Budget: 10000}},
	} {
		if diff := cmp.Diff(c.want, c.limits.Lowered(c.by)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}
