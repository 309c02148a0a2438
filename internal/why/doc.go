// Package why explains one decision: what an agent requested, what it was answered, which hook and
// which rule decided, what each hook changed, and who approved.
//
// hookctl why and the console's page of the same name show the same [Story], which is built from
// the records of one chain only. It contains text of agents, hooks and people: the caller must
// sanitize it for display.
package why
