// Package regohook is the hook kind rego: policies in the language of Open Policy Agent, evaluated
// in the process by the OPA library.
//
// # Usage
//
// [New] loads and compiles the policies of a [Config] and returns the hook. A policy gets one event
// as input:
//
//	{"event":"tool:pre","session_id":"…","event_id":"…","source":"…","time":"…",
//	 "data":{…},"tool":{"class":"shell","command":"…", …}}
//
// tool is present for events about a tool; see [events.Tool]. tool.input is the call's input, an
// object wherever the agent put it, and tool.texts are the texts in it. A policy that refers to a
// member that input or tool never has does not compile; data may have any members.
//
// time.now_ns() is the time of the call. In a test or a replay it is the time of the test or of the
// recorded event.
//
// # Result
//
// The query names a rule or a package; the default is "data.hooks". In a package these rules count,
// and the strictest result applies:
//
//	deny    a set or list of reasons, or of objects with msg; a reason; or true
//	allow   false or undefined denies
//	ask     a set or list of questions, a question, or true
//	result  a HookResult as an object: {"action": "inject_context", …}
//
// A rule with another name may have a HookResult as its value, a boolean as for allow, or reasons
// as for deny. A rule of a package whose name is one edit away from these and that no other rule
// uses is reported as a warning.
//
// # Failure
//
// A policy that does not compile, or a query that no policy defines, is an error of New with file,
// line and column. An evaluation that fails, a value of the wrong form, and an undefined rule are
// errors of the handler: the hook could not decide, and its on_failure applies. So a rule result
// needs a default; deny and ask may be undefined if there is another rule. A builtin function that
// fails is an error too, unless Config.Lenient leaves it undefined as OPA does: a rule that should
// deny would then deny nothing.
//
// # Network
//
// http.send, net.lookup_ip_addr and remote schemas may access the hosts of Config.AllowNet. Without
// hosts, those functions do not exist. No schema may refer to a file.
//
// # Concurrency
//
// The handler is safe for concurrent use. An evaluation ends with its context.
package regohook
