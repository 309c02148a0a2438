// Package hookfile reads a worker file: YAML in which an operator writes hooks,
// each with its registration and one kind that says what it does.
//
// # Usage
//
// [Load] reads a file, or [Parse] its text, and returns every hook with its
// registration and its handler, ready to be registered. Which kinds there are is
// up to [Options.Kinds]; package kinds has them all, and a program that needs only
// one can leave the others out of its binary.
//
//	hooks:
//	  - id: path-guard
//	    events: [tool:pre]
//	    on_failure: deny
//	    match: data.tool_name in ['Write', 'Edit']
//	    cel:
//	      rules:
//	        - when: data.tool_input.file_path.startsWith('/etc/')
//	          deny: "{{ data.tool_input.file_path }} is protected"
//
// # Tests
//
// The section tests says what must come of which events (see [Test]); package trial
// runs them. Who serves the hooks leaves them alone, but they are checked as all else is.
//
//	tests:
//	  - name: nobody writes to /etc
//	    event: tool:pre
//	    data: {tool_name: Write, tool_input: {file_path: /etc/hosts}}
//	    expect: {action: deny, by: path-guard}
//
// # Strictness
//
// Unknown and repeated keys, repeated ids, values of another type, expressions
// that do not compile and commands that are not there are errors. So a file that
// loads does what it says. With [Options.FileOnly] commands and secrets may be missing. Anchors, aliases, tags and a second document are
// refused.
//
// # Failure
//
// Each error is an [*Error] with file, line and column, the path of the field,
// and a hint where there is one; [Error.Snippet] shows the line. All that is wrong
// with a file is told at once, in its order (see [Errors]), but what may only follow
// from something else. A file with errors yields no hooks at all.
//
// What is well written and probably not meant, such as an event that is a slip away from
// a standard one, is among the Warnings of its hook, each an [*Error] too.
//
// # Concurrency
//
// Nothing is shared between calls; a File is the caller's.
package workerfile
