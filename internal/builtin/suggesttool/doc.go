// Package suggesttool is the builtin suggest-tool: it recommends a tool, by words in the user's
// query, to an orchestrator that collects suggestions before it chooses a tool.
//
//	hooks:
//	  - id: suggest-tool
//	    builtin:
//	      suggest-tool:
//	        words: {calculator: [calculate, sum, percent]}
package suggesttool
