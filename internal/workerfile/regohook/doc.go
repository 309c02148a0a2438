// Package regohook is the hook kind rego: policies in the language of Open Policy
// Agent, evaluated in the process by OPA's own library.
//
// # Usage
//
// [New] loads and compiles the policies of a [Config] and returns the hook. A policy
// sees one event as input:
//
//	{"event":"tool:pre","session_id":"…","event_id":"…","source":"…","time":"…",
//	 "data":{…},"tool":{"class":"shell","command":"…", …}}
//
// tool is there for events about a tool; see [events.Tool]. tool.input is the call's input,
// an object wherever its agent put it, and tool.texts are the texts in it. A policy that asks
// for a member that input or tool never has does not compile; below data there may be anything.
//
// time.now_ns() is the time of the call: that of the test, or of the recorded event, where one
// runs.
//
// # Result
//
// The query names a rule, or a package, "data.hooks" where nothing is said. Of a
// package these rules count, and the strictest of what they say holds:
//
//	deny    a set or list of reasons, or of objects with msg; a reason; or true
//	allow   false or undefined denies
//	ask     a set or list of questions, a question, or true
//	result  a HookResult as an object: {"action": "inject_context", …}
//
// A rule of another name may have a HookResult as its value, a boolean as of allow,
// or reasons as of deny. One of a package that is one edit away from these and that no other
// rule uses is a warning.
//
// # Failure
//
// A policy that does not compile, or a query that no policy defines, is an error of
// New with file, line and column. An evaluation that fails, a value of another form,
// and a rule that is undefined are errors of the handler: the hook could not decide,
// and its on_failure does. So a rule result needs a default; deny and ask may be
// undefined beside another rule. A builtin function that fails is an error
// too, unless Config.Lenient leaves it undefined as OPA does: a rule that denies would
// then deny nothing.
//
// # Network
//
// http.send, net.lookup_ip_addr and remote schemas reach the hosts of Config.AllowNet,
// and where it has none, those functions do not exist. No schema may refer to a file.
//
// # Concurrency
//
// The handler may be called by any number of goroutines. An evaluation ends with its
// context.
package regohook
