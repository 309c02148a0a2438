// Package suggesttool is the builtin suggest-tool: it recommends a tool to an orchestrator
// that collects suggestions before it decides, by words in what the user asked for.
//
//	hooks:
//	  - id: suggest-tool
//	    builtin:
//	      suggest-tool:
//	        words: {calculator: [calculate, sum, percent]}
package suggesttool
