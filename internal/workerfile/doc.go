// Package workerfile reads worker files: YAML files in which an operator declares hooks, each with
// its registration and one kind that says what it does.
//
// # Usage
//
// [Load] reads a file, and [Parse] its text. Both return every hook with its registration and its
// handler, ready to be registered. [Options.Kinds] are the available kinds. Package kinds has all
// of them; a program that needs only some can leave the others out of its binary.
//
//	hooks:
//	  - id: path-guard
//	    events: [tool:pre]
//	    on_failure: deny
//	    match: tool.class == 'file'
//	    cel:
//	      rules:
//	        - when: tool.paths.exists(p, p.startsWith('/etc/'))
//	          deny: "{{ tool.path }} is protected"
//
// # Tests
//
// The section tests gives the expected outcome of events (see [Test]); package evaluate runs them.
// A worker that serves the hooks ignores them, but they are checked with the rest of the file.
//
//	tests:
//	  - name: nobody writes to /etc
//	    event: tool:pre
//	    data: {tool_name: Write, tool_input: {file_path: /etc/hosts}}
//	    expect: {action: deny, by: path-guard}
//
// # Strictness
//
// Unknown and repeated keys, repeated ids, values of the wrong type, expressions that do not
// compile and missing commands are errors, so that a file that loads does what it says. With
// [Options.FileOnly] commands and secrets may be missing. Anchors, aliases, tags and a second
// document are errors too.
//
// # Failure
//
// Each error is an [*Error] with file, line and column, the path of the field, and a hint if there
// is one; [Error.Snippet] shows the line. All errors of a file are reported at once, in the order
// of the file (see [Errors]), except those that probably follow from another one. A file with
// errors yields no hooks.
//
// Likely mistakes that are valid, such as a misspelt standard event, are in the Warnings of the
// hook, each an [*Error] too.
//
// # Concurrency
//
// Calls share no state. A File belongs to the caller.
package workerfile
