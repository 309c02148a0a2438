// Package progress is the builtin progress: it shows the user one line about how much a tool did,
// and hides the tool's output.
//
//	hooks:
//	  - id: progress
//	    builtin:
//	      progress:
//	        text: Indexed {count} pages
//	        member: pages_indexed
package progress
